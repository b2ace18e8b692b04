package limits_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"a2atap/proxy/must"
	"a2atap/replay/limits"
)

// The table in docs/limits.md lists each limit with its default and its flag.
func TestDocumented(t *testing.T) {
	l := limits.Limits{}.OrDefaults()
	rows := map[string]string{
		"Answer": fmt.Sprintf("| %d MiB (`probe` and the page: 8 MiB) | `--%s SIZE` |", l.Answer>>20, limits.AnswerFlag),
		"Events": fmt.Sprintf("| %s (`probe` and the page: 10,000) | `--%s N` |", thousands(l.Events), limits.EventsFlag),
		"Values": fmt.Sprintf("| JSON values of one answer or one event | %s (the page: 100,000) | |", thousands(l.Values)),
		"Pages":  fmt.Sprintf("| pages of `send --list` | %s | `--%s N` |", thousands(l.Pages), limits.PagesFlag),
		"Skills": fmt.Sprintf("| skills of a card | %s | `--%s N` |", thousands(l.Skills), limits.SkillsFlag),
		"Idle":   fmt.Sprintf("| time without an event in a stream | %d h | `--%s D` |", int(l.Idle.Hours()), limits.IdleFlag),
	}
	for i := range reflect.TypeFor[limits.Limits]().NumField() {
		if name := reflect.TypeFor[limits.Limits]().Field(i).Name; rows[name] == "" {
			t.Errorf("the limit %s is not compared with the page", name)
		}
	}
	rows["event"] = fmt.Sprintf("| one event | %d MiB | |", limits.Event>>20)
	rows["head"] = fmt.Sprintf("| the heads of one answer | %d MiB | |", limits.Head>>20)
	rows["redirects"] = fmt.Sprintf("| redirects of a read | %d, ", limits.Redirects)
	rows["late"] = fmt.Sprintf("| `--%s D` |", limits.LateFlag)
	page := string(must.Get(os.ReadFile("../../docs/limits.md"))(t))
	for name, row := range rows {
		if !strings.Contains(page, row) {
			t.Errorf("docs/limits.md lacks %q, of %s", row, name)
		}
	}
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
