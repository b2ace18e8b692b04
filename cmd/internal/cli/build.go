package cli

import (
	_ "embed"
	"runtime"
	"runtime/debug"
	"strings"

	"a2atap/analyzer/report"
)

// A Build has the program's version and build information, as the version command prints it.
type Build struct {
	Name         string `json:"name"`
	Version      string `json:"version"`          // the module's version, or devel if the build has none
	Commit       string `json:"commit,omitempty"` // empty without version control
	Date         string `json:"date,omitempty"`   // of the commit, RFC 3339
	Modified     bool   `json:"modified"`         // files were changed after the commit
	Go           string `json:"go"`
	System       string `json:"os"`
	Architecture string `json:"arch"`
}

// archived is the commit and its date in the source archives that git makes; elsewhere it is a placeholder.
//
//go:embed commit.txt
var archived string

// Built returns the build information that the Go toolchain has put into this program, or else that of its source
// archive.
func Built() Build {
	info, _ := debug.ReadBuildInfo()
	return builtOf(info, archived)
}

// builtOf reads build information, which may be nil, and the commit of a source archive.
func builtOf(info *debug.BuildInfo, archived string) Build {
	b := Build{
		Name: "a2atap", Version: "devel", Go: runtime.Version(), System: runtime.GOOS, Architecture: runtime.GOARCH,
	}
	if commit, date, ok := strings.Cut(strings.TrimSpace(archived), " "); ok && !strings.HasPrefix(commit, "$") {
		b.Commit, b.Date = commit, date
	}
	if info == nil {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// Tool names this program and its version in reports.
func Tool() report.Tool {
	b := Built()
	return report.Tool{Name: b.Name, Version: b.Version}
}

// ToolName is the name and version of this program in captures.
func ToolName() string {
	t := Tool()
	return t.Name + " " + t.Version
}
