package cli

import (
	"runtime/debug"

	"a2atap/analyzer/report"
)

// ToolName is the name and version of this program in captures.
func ToolName() string {
	t := Tool()
	return t.Name + " " + t.Version
}

// Tool names this program and its version: the module's, or "devel" for a build from a checkout.
func Tool() report.Tool {
	version := "devel"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		version = info.Main.Version
	}
	return report.Tool{Name: "a2atap", Version: version}
}
