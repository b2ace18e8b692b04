package cli

import (
	"runtime"
	"runtime/debug"

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

// Built returns the build information that the Go toolchain has put into this program.
func Built() Build {
	info, _ := debug.ReadBuildInfo()
	return builtOf(info)
}

// builtOf reads build information, which may be nil.
func builtOf(info *debug.BuildInfo) Build {
	b := Build{
		Name: "a2atap", Version: "devel", Go: runtime.Version(), System: runtime.GOOS, Architecture: runtime.GOARCH,
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
