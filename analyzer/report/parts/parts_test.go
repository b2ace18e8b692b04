package parts_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"a2atap/analyzer"
	"a2atap/analyzer/report"
	"a2atap/analyzer/report/parts"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

var rules = []*analyzer.Rule{{ID: "one", Revises: true}, {ID: "two"}}

// result is what a part came to, with something in every field, and texts that JSON cannot hold.
func result() *analyzer.Result {
	link := analyzer.Link{Client: "plan\xffner", Agent: "book->er"}
	operations := map[a2a.Operation]int{a2a.SendMessage: 3, a2a.NoOperation: 1}
	return &analyzer.Result{
		Captures: []string{"c\xfe.a2atap"},
		Findings: []analyzer.Finding{{
			Rule: rules[0], Severity: analyzer.Warning, Side: a2a.Receiver, Dialects: a2a.Of(a2a.V0_2, a2a.V0_3),
			Binding: a2a.HTTPJSON, Operation: a2a.Webhook, Link: link, ExchangeID: uuid.UUID{1, 2},
			Place: analyzer.Place{
				Exchange: 7, Response: true, Part: "header[a#b]", Pointer: "/\xff<&>\u2028", HasPointer: true,
			},
			Seen: "\xc3", Expected: "\"", Message: "<>", Also: []string{"two"}, Weight: rules[1], Capture: "c\xfe.a2atap",
			Revises: true, Within: a2a.Of(a2a.V1_0), Workflow: analyzer.Workflow{Number: 3, Others: true},
			Order: analyzer.Order{Step: 12, Index: 1},
		}},
		Coverage: []analyzer.Coverage{{Rule: rules[0], Link: link, Applied: 5, Broken: 1}},
		Counts: analyzer.Counts{
			Exchanges: 1, Judged: 2, Lost: 3, Forgotten: 4, Streams: 5, Events: 6, Calls: 7, Failed: 8, Unseen: 9, Made: 10,
			Unproved: 11,
		},
		Calls: []analyzer.Calls{{
			Link: link, Made: 6, Succeeded: 3, Failed: 2, Failures: map[string]int{"HTTP \xff": 2}, Unheard: true, Unproved: true,
		}},
		Agents: []analyzer.Agent{{
			Link: "b", URL: "http://b", Name: "\xff", Version: "1", Streaming: true, Push: true, Operations: operations,
			Completed: 2, Refused: 1, BadCard: "is no JSON",
			Contacts: map[string]analyzer.Contact{"\xff": {Operations: operations, AtOnce: 4}},
		}},
		Live: true, Insecure: true,
		Crashes: []capture.Crash{{After: time.Date(2026, 3, 1, 10, 0, 0, 7, time.UTC), Within: 20 * time.Millisecond}},
		Portion: analyzer.Portion{Part: analyzer.Part{Number: 1, Of: 1}, Steps: 12, Sum: "ab"},
	}
}

// written returns the report on a part.
func written(t testing.TB, r *analyzer.Result, choice *parts.Choice) []byte {
	t.Helper()
	judgement := &parts.Judgement{
		Format: parts.Format, Selection: parts.Selection{Rules: parts.Catalogue(rules)},
		Captures: []parts.Capture{parts.Of(r, choice)},
	}
	if choice != nil {
		judgement.Selection.Agent = "b"
	}
	var b bytes.Buffer
	if err := report.JSON(&b, &report.Report{Result: r, Rules: rules, Part: judgement}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t testing.TB, text []byte) *parts.File {
	t.Helper()
	f, err := parts.Read("1.json", text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What is written is read again as it was.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	want := result()
	choice := &parts.Choice{
		Exchanges: 2, Judged: 1, Calls: want.Calls, Nothing: "\xff", LeftOut: map[uint64]bool{7: true},
	}
	f := read(t, written(t, want, choice))
	got, chosen, err := f.Captures[0].Result(f.Part, rules)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if !reflect.DeepEqual(chosen, choice) {
		t.Errorf("got %+v, want %+v", chosen, choice)
	}
	whole, err := parts.Merge([]*parts.File{f}, rules)
	if err != nil || len(whole) != 1 || len(whole[0].Result.Findings) != 1 ||
		whole[0].Result.Found[analyzer.Warning] != 1 {
		t.Errorf("got %+v, %v", whole, err)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	good := string(written(t, result(), nil))
	for want, text := range map[string]string{
		"no report of check --shard: EOF":  "",
		"no report of check --shard":       `{"log":{}}`,
		"more than one JSON value":         good + "{}",
		"the report on a whole capture":    `{"tool":{"version":"1"},"verdict":{}}`,
		`lacks "part" or "shard"`:          `{"tool":{"version":"1"},"verdict":{},"shard":"1/4"}`,
		"it is of format 2":                strings.Replace(good, `"format": 1`, `"format": 2`, 1),
		`"5/4" is no part`:                 strings.Replace(good, `"shard": "1/1"`, `"shard": "5/4"`, 1),
		"there is no capture in it":        `{"tool":{"version":"1"},"verdict":{},"shard":"1/4","part":{"format":1}}`,
		"cannot unmarshal":                 strings.Replace(good, `"format": 1`, `"format": "x"`, 1),
		"no report of check --shard: unex": good[:len(good)/2],
	} {
		if _, err := parts.Read("1.json", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	text := string(written(t, result(), nil))
	first := read(t, []byte(strings.Replace(text, `"shard": "1/1"`, `"shard": "1/2"`, 1)))
	second := func(old, changed string) *parts.File {
		if !strings.Contains(text, old) {
			t.Fatalf("the report has no %s", old)
		}
		return read(t, []byte(strings.Replace(strings.Replace(text, `"shard": "1/1"`, `"shard": "2/2"`, 1), old, changed, 1)))
	}
	of := func(indent int, first, second string) string {
		return first + "\n" + strings.Repeat(" ", indent) + second
	}
	more := second(" ", " ")
	more.Captures = append(more.Captures, more.Captures[0])
	for want, f := range map[string]*parts.File{
		"was written by version":         second(`"version": ""`, `"version": "2"`),
		"judged by other rules":          second(parts.Catalogue(rules), "00"),
		"different rules or exchanges":   second(`"selection": {`, `"selection": {"agent": "b",`),
		"of 1 capture":                   more,
		"of a capture of 12 steps":       second(`"steps": 12`, `"steps": 13`),
		"of another capture":             second(`"sum": "ab"`, `"sum": "cd"`),
		`no rule "three"`:                second(of(12, `"rule": "one",`, `"severity"`), `"rule": "three", "severity"`),
		`no side "nobody"`:               second(of(12, `"side": "receiver",`, `"dialects"`), `"side": "nobody", "dialects"`),
		`no count "-5"`:                  second(of(12, `"applied": 5,`, `"broken"`), `"applied": -5, "broken"`),
		"what its filter chooses is not": second(of(8, `"live": true,`, `"insecure"`), `"chosen": {}, "insecure"`),
	} {
		if _, err := parts.Merge([]*parts.File{first, f}, rules); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	_, err := parts.Merge([]*parts.File{first}, rules)
	if err == nil || !strings.Contains(err.Error(), "part 2/2 is missing") {
		t.Errorf("got %v", err)
	}
	if _, err := parts.Merge([]*parts.File{first, second(" ", " ")}, rules); err != nil {
		t.Error(err)
	}
}

// Whatever a file holds, it is read or refused; and what is read can be written, and says the same then.
func FuzzRead(f *testing.F) {
	f.Add(written(f, result(), nil))
	f.Add(written(f, result(), &parts.Choice{Nothing: "none"}))
	f.Add([]byte(`{"tool":{},"verdict":{},"shard":"1/1","part":{"format":1,"captures":[{}]}}`))
	f.Add([]byte(fmt.Sprintf(`{"tool":{},"verdict":{},"shard":"1/1","part":{"format":1,"selection":{"rules":%q},`+
		`"captures":[{"findings":[{"rule":"two","severity":"note","side":"agent","binding":"http",`+
		`"place":{"part":{"bytes":"/w=="}}}]}]}}`,
		parts.Catalogue(rules))))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := parts.Read("x", text)
		if err != nil {
			return
		}
		whole, err := parts.Merge([]*parts.File{file}, rules)
		if err != nil {
			return
		}
		again, err := json.Marshal(file.Judgement)
		if err != nil {
			t.Fatal(err)
		}
		var judgement parts.Judgement
		if err := json.Unmarshal(again, &judgement); err != nil {
			t.Fatal(err)
		}
		file.Judgement = judgement
		same, err := parts.Merge([]*parts.File{file}, rules)
		if err != nil || !reflect.DeepEqual(same, whole) {
			t.Fatalf("got %+v, %v\nwant %+v", same, err, whole)
		}
		if err := report.Write(&bytes.Buffer{}, "text", &report.Report{Result: whole[0].Result, Rules: rules}); err != nil {
			t.Fatal(err)
		}
	})
}
