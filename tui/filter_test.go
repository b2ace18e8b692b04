package tui

import (
	"strings"
	"testing"
)

// A filter that the inspector cannot answer is refused, wherever it stands in the expression.
func TestFilterRefused(t *testing.T) {
	for _, expr := range []string{"workflow:3", "is:error or not (a workflow:3..9)"} {
		if _, err := parseFilter(expr); err == nil || !strings.Contains(err.Error(), "show --format tree") {
			t.Errorf("%s: %v", expr, err)
		}
	}
	if f, err := parseFilter("task:workflow workflow"); err != nil || f.String() == "" {
		t.Errorf("a word: %v", err)
	}
}
