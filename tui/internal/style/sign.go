package style

import (
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// OfSeverity returns the one-character sign of a severity, and its style.
func OfSeverity(s analysis.Severity) (string, Style) {
	switch s {
	case analysis.Error:
		return "!", Error
	case analysis.Warning:
		return "?", Warning
	}
	return "·", Note
}

// OfState returns the sign of a task state, and its style.
func OfState(state string) (string, Style) {
	switch state {
	case a2a.Completed.String():
		return "✓", Good
	case a2a.Failed.String(), a2a.Rejected.String():
		return "✗", Error
	case a2a.Canceled.String():
		return "⊘", Warning
	case a2a.InputRequired.String(), a2a.AuthRequired.String():
		return "?", Warning
	case a2a.Submitted.String(), a2a.Working.String():
		return "…", Note
	}
	return "", Dim
}

// OfStatus returns the style of an HTTP status.
func OfStatus(status string) Style {
	switch {
	case strings.HasPrefix(status, "2"):
		return Good
	case strings.HasPrefix(status, "4"):
		return Warning
	case strings.HasPrefix(status, "5"):
		return Error
	}
	return Dim
}
