package noise

import (
	"fmt"
	"strconv"

	"a2atap/proxy/a2a"
)

// A Mismatch is a live value that does not match the expression of a rule, or is missing.
type Mismatch struct {
	Rule    Rule
	Text    int    // index of the live text; of the recorded one if the value is missing
	Pointer string // JSON Pointer of the value; in the recorded text if the live one lacks it; "" for other texts than JSON
	Was     string // raw JSON of the recorded value at the same pointer; may be empty
	Now     string // the same of the live value
	Missing bool   // from the live texts
}

// Named returns the place in the rule: the JSON Pointer, header[NAME] or status.
func (m *Mismatch) Named() string {
	switch {
	case m.Rule.header != "":
		return "header[" + m.Rule.header + "]"
	case m.Rule.status:
		return "status"
	}
	return m.Pointer
}

// Expected returns the expression of the rule for people, and where it was written.
func (m *Mismatch) Expected() string {
	if m.Rule.origin == "" {
		return m.Rule.wanted
	}
	return fmt.Sprintf("%s (%s)", m.Rule.wanted, m.Rule.origin)
}

// Check compares live texts, which together are the counterpart of the recorded ones, with the expressions of rules,
// and returns the mismatches. A value that only recorded texts have is a mismatch. Strings are matched without quotes
// and escapes, other values as written.
func (s *Scope) Check(recorded, live []Text) []Mismatch {
	if s == nil {
		return nil
	}
	var wrong []Mismatch
	there := map[int]bool{}
	for i, t := range live {
		for _, f := range s.find(t) {
			there[f.rule.index] = true
			if f.rule.want == nil || f.rule.want.MatchString(plain(f.value)) {
				continue
			}
			m := Mismatch{Rule: *f.rule.Rule, Text: i, Pointer: f.pointer(), Now: string(f.value.Raw())}
			if i < len(recorded) {
				m.Was = string(recorded[i].Root.At(m.Pointer).Raw())
			}
			wrong = append(wrong, m)
		}
	}
	for i, t := range recorded {
		for _, f := range s.find(t) {
			if f.rule.want != nil && !there[f.rule.index] {
				there[f.rule.index] = true
				wrong = append(wrong, Mismatch{
					Rule: *f.rule.Rule, Text: i, Pointer: f.pointer(), Was: string(f.value.Raw()), Missing: true,
				})
			}
		}
	}
	return wrong
}

// plain returns the text that is matched with an expression.
func plain(v a2a.Value) string {
	if text, ok := v.Str(); ok {
		return text
	}
	return string(v.Raw())
}

// CheckHead returns which header fields, and which status, of a live answer do not match the expressions of rules. A
// field that both answers lack is not a mismatch.
func (s *Scope) CheckHead(recorded, live Head) []Mismatch {
	if s == nil {
		return nil
	}
	var wrong []Mismatch
	for _, r := range s.rules {
		if r.want == nil {
			continue
		}
		was, had := recorded.value(r.Rule)
		now, has := live.value(r.Rule)
		if (had || has) && !(has && r.want.MatchString(now)) {
			wrong = append(wrong, Mismatch{Rule: *r.Rule, Was: was, Now: now, Missing: !has})
		}
	}
	return wrong
}

// A Head is what rules can name in the head of an answer.
type Head struct {
	Status int // 0 if there was no answer
	Header func(name string) []string
}

// value returns the value in a head that a rule names.
func (h *Head) value(r *Rule) (text string, ok bool) {
	switch {
	case r.status && h.Status != 0:
		return strconv.Itoa(h.Status), true
	case r.header != "" && h.Header != nil:
		if values := h.Header(r.header); len(values) > 0 {
			return values[0], true
		}
	}
	return "", false
}

// Note counts the places of an exchange to which the rules applied, each once, whether only one of the answers has it
// or both. Call it once for each exchange that was compared.
func (s *Scope) Note(recorded, live []Text, recordedHead, liveHead Head) {
	if s == nil {
		return
	}
	var counts [2]map[int]int
	for i, texts := range [][]Text{recorded, live} {
		counts[i] = map[int]int{}
		for _, t := range texts {
			for _, f := range s.find(t) {
				counts[i][f.rule.index]++
			}
		}
	}
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	for _, r := range s.rules {
		n := max(counts[0][r.index], counts[1][r.index])
		_, had := recordedHead.value(r.Rule)
		if _, has := liveHead.value(r.Rule); had || has {
			n++
		}
		s.all.applied[r.index] += n
	}
}
