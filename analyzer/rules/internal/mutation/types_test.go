package mutation_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rulestest"
	"a2atap/proxy/capture"
)

// A member that holds a JSON value of another type than the protocol gives it is an error at its place, or at that of
// the object around it, and nothing else is: one cause is one finding. The transcripts silent/types-* have all members
// of all objects of all versions.
func TestWrongTypes(t *testing.T) {
	t.Parallel()
	n := 0
	for _, path := range rulestest.Names(t, "clean", "silent") {
		faithful := filepath.Dir(path) == "clean" && filepath.Base(path) != "not-a2a"
		if !faithful && !strings.HasPrefix(path, filepath.Join("silent", "types-")) {
			continue
		}
		exchanges := rulestest.Exchanges(t, path)
		for i, x := range exchanges {
			for _, at := range texts(x) {
				root, ok := parseValue(at.text)
				if !ok {
					continue
				}
				for _, m := range mistypings(root) {
					if n++; n%everyMistyping != 0 {
						continue
					}
					changed := slices.Clone(exchanges)
					changed[i] = at.with(x, m.text(root))
					if got := unexpected(rulestest.Findings(t, changed), at.place, m.pointer); got != "" {
						t.Errorf("%s: %s#%s is %s: %s", path, at.place, m.pointer, m.wrong, got)
					}
				}
			}
		}
	}
	t.Logf("%d of %d members of the wrong type", n/everyMistyping, n)
}

// unexpected says what is wrong with the findings about a member of the wrong type; nothing if they are one error at
// its place or around it.
func unexpected(findings []analysis.Finding, text, pointer string) string {
	found, others := 0, ""
	place := text + "#" + pointer
	for i := range findings {
		f := &findings[i]
		if f.Severity < analysis.Warning || mayFollow(f.Rule.ID, pointer) {
			continue
		}
		at := f.Place.String()
		around := at == text+"#" || strings.HasPrefix(place, at+"/") || !f.Place.HasPointer &&
			strings.HasPrefix(place, at)
		if f.Severity == analysis.Error && (at == place || around || strings.HasPrefix(at, place+"/")) {
			found++
		}
		others += "\n\t" + f.String()
	}
	switch n := strings.Count(others, "\n\t"); {
	case found == 0:
		return "no error" + others
	case n > 1:
		return fmt.Sprint(n, " findings", others)
	}
	return ""
}

// mayFollow reports whether a finding is about something else, which is then wrong too.
func mayFollow(rule, pointer string) bool {
	switch {
	case pointer == "/params": // the agent answers what is no request
		return rule == "rpc-invalid-request-wrong-code" || rule == "list-artifacts-omitted"
	case strings.HasSuffix(pointer, "/flows/password"): // the value may well be a password
		return rule == "card-secret-leak"
	}
	return false
}

// A textOf is a JSON text in an exchange.
type textOf struct {
	place string
	text  string
	with  func(x *capture.Exchange, text string) *capture.Exchange // a copy with another text
}

// texts returns the bodies and the data of the events of an exchange.
func texts(x *capture.Exchange) []textOf {
	prefix := fmt.Sprint(x.Seq)
	list := []textOf{{
		prefix + ".request.body", string(x.Request.Body.Data),
		func(x *capture.Exchange, text string) *capture.Exchange {
			changed := *x
			changed.Request.Body.Data, changed.Request.Body.Size = []byte(text), int64(len(text))
			return &changed
		},
	}}
	if x.Response == nil {
		return list
	}
	answer := func(place, text string, set func(r *capture.Response, text string)) {
		list = append(list, textOf{
			prefix + ".response." + place, text,
			func(x *capture.Exchange, text string) *capture.Exchange {
				changed, response := *x, *x.Response
				set(&response, text)
				changed.Response = &response
				return &changed
			},
		})
	}
	answer("body", string(x.Response.Body.Data), func(r *capture.Response, text string) {
		r.Body.Data, r.Body.Size = []byte(text), int64(len(text))
	})
	for i := range x.Response.Events {
		e := &x.Response.Events[i]
		answer(fmt.Sprintf("event[%d]", e.K), string(e.Fields().Data), func(r *capture.Response, text string) {
			r.Events = slices.Clone(r.Events)
			r.Events[i].Raw = []byte("data: " + text + "\n\n")
		})
	}
	return list
}

// A mistyping is a value of the wrong type for one in a text.
type mistyping struct {
	pointer string
	wrong   string
	target  *value
}

// text returns the text with the value of the wrong type.
func (m *mistyping) text(root *value) string {
	right := *m.target
	if wrong, ok := parseValue(m.wrong); ok {
		*m.target = *wrong
	} else {
		*m.target = value{raw: m.wrong, kind: jsontext.Value(m.wrong).Kind()}
	}
	text := root.text("")
	*m.target = right
	return text
}

var wrongValues = []string{`"x"`, `"true"`, `7`, `true`, `[]`, `["x"]`, `[7]`, `{}`, `{"x":7}`}

// mistypings returns all that can be of the wrong type in a text.
func mistypings(root *value) []mistyping {
	var list []mistyping
	var walk func(v *value, pointer, name string)
	walk = func(v *value, pointer, name string) {
		envelope := pointer == "" && v.has("jsonrpc")
		whose := name == "role" && strings.Contains(pointer, "/history/") // the sender of the message is then unknown
		for _, wrong := range wrongValues {
			if !envelope && !whose && !mayBe(v, pointer, name, wrong) {
				list = append(list, mistyping{pointer, wrong, v})
			}
		}
		if name == "metadata" || name == "header" || name == "data" || name == "params" && v.has("depth") {
			return // it is free
		}
		for _, m := range v.members {
			inner := strings.Trim(m.name, `"`)
			if !envelope || inner == "params" || inner == "result" {
				walk(m.value, pointer+"/"+inner, inner)
			}
		}
		for i, e := range v.elements {
			walk(e, fmt.Sprintf("%s/%d", pointer, i), "")
		}
	}
	walk(root, "", "")
	return list
}

// mayBe reports whether a value may be replaced with another one.
func mayBe(v *value, pointer, name, other string) bool {
	kind := jsontext.Value(other).Kind()
	switch {
	case name == "data":
		return kind == '{' || kind == '[' || !v.has("kind") // lists up to 0.2.5, and anything in 1.0
	case pointer == "/result" && v.kind == 'n':
		return kind == '{' // of a deletion
	case pointer == "" && (v.kind == '[' || v.has("configs")):
		return kind == '{' || other == "[]" // lists of push configs before 1.0
	case v.kind == 't' || v.kind == 'f':
		return kind == 't'
	case v.kind == '[' && kind == '[' && len(v.elements) > 0:
		list, _ := parseValue(other)
		return len(list.elements) == 0 || list.elements[0].kind == v.elements[0].kind
	}
	return v.kind == kind
}
