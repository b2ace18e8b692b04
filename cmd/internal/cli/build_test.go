package cli

import (
	"runtime"
	"runtime/debug"
	"testing"

	"a2atap/proxy/expect"
)

func TestBuiltOf(t *testing.T) {
	settings := func(words ...string) (list []debug.BuildSetting) {
		for i := 0; i < len(words); i += 2 {
			list = append(list, debug.BuildSetting{Key: words[i], Value: words[i+1]})
		}
		return list
	}
	here := Build{Name: "a2atap", Version: "devel", Go: runtime.Version(), System: runtime.GOOS, Architecture: runtime.GOARCH}
	released, changed := here, here
	released.Version, released.Commit, released.Date = "v1.2.3", "0123abcd", "2026-03-01T10:00:00Z"
	changed.Version, changed.Modified = "v1.2.4-0.20260301100000-0123abcd+dirty", true
	for _, test := range []struct {
		name string
		info *debug.BuildInfo
		want Build
	}{
		{"nothing is known", nil, here},
		{"a build without version control", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, here},
		{
			"a release",
			&debug.BuildInfo{
				Main: debug.Module{Version: "v1.2.3"},
				Settings: settings("-compiler", "gc", "vcs.revision", "0123abcd", "vcs.time", "2026-03-01T10:00:00Z",
					"vcs.modified", "false"),
			},
			released,
		},
		{
			"changes since",
			&debug.BuildInfo{
				Main:     debug.Module{Version: "v1.2.4-0.20260301100000-0123abcd+dirty"},
				Settings: settings("vcs.modified", "true"),
			},
			changed,
		},
	} {
		expect.Equal(t, test.name, test.want, builtOf(test.info, "$Format:%H %cI$"))
	}

	archive := here
	archive.Commit, archive.Date = "0123abcd", "2026-03-01T10:00:00Z"
	expect.Equal(t, "a source archive", archive, builtOf(nil, "0123abcd 2026-03-01T10:00:00Z"))
}
