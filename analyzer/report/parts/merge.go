package parts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"a2atap/analyzer"
)

// A File is the report on a part, as far as it is needed to put the whole together.
type File struct {
	Name    string // of the file, for errors
	Version string // of the program that wrote it
	Part    analyzer.Part
	Judgement
}

// Read reads the JSON report on a part. An error says what is wrong with it.
func Read(name string, report []byte) (*File, error) {
	var doc struct {
		Tool *struct {
			Version string `json:"version"`
		} `json:"tool"`
		Verdict *struct{}  `json:"verdict"`
		Shard   string     `json:"shard"`
		Part    *Judgement `json:"part"`
	}
	d := json.NewDecoder(bytes.NewReader(report))
	if err := d.Decode(&doc); err != nil {
		return nil, fmt.Errorf("it is no report of check --shard: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("it is no report of check --shard: there is more than one JSON value in it")
	}
	switch {
	case doc.Tool == nil || doc.Verdict == nil:
		return nil, errors.New("it is no report of check --shard")
	case doc.Shard == "" && doc.Part == nil:
		return nil, errors.New("it is the report on a whole capture; parts are judged with check CAPTURE --shard K/N")
	case doc.Part == nil || doc.Shard == "":
		return nil, errors.New(`it lacks "part" or "shard", which check --shard writes`)
	case doc.Part.Format != Format:
		return nil, fmt.Errorf("it is of format %d, and this program knows %d", doc.Part.Format, Format)
	case len(doc.Part.Captures) == 0:
		return nil, errors.New("there is no capture in it")
	}
	part, err := analyzer.ParsePart(doc.Shard)
	if err != nil {
		return nil, fmt.Errorf(`"shard": %w`, err)
	}
	return &File{Name: name, Version: doc.Tool.Version, Part: part, Judgement: *doc.Part}, nil
}

// A Whole is what judging all parts of a capture came to, before anything is chosen.
type Whole struct {
	Result *analyzer.Result
	Choice *Choice // nil if everything is chosen
}

// Merge puts the parts of captures together, given in any order: one Whole for each capture. They must be all parts, of
// the same captures, judged by the given rules and with the same selection; an error says what is not so.
func Merge(files []*File, rules []*analyzer.Rule) ([]Whole, error) {
	for _, f := range files {
		if err := f.matches(files[0], rules); err != nil {
			return nil, err
		}
	}
	var all []Whole
	for i := range files[0].Captures {
		var results []*analyzer.Result
		var choice *Choice
		for _, f := range files {
			r, own, err := f.Captures[i].Result(f.Part, rules)
			if err != nil {
				return nil, fmt.Errorf("%s: %w; it was written by another version of this program", f.Name, err)
			}
			if (own == nil) != (f.Selection.Filter == "" && f.Selection.Agent == "") {
				return nil, fmt.Errorf("%s: what its filter chooses is not in it; write it again with check --shard", f.Name)
			}
			results = append(results, r)
			choice = choice.with(own)
		}
		whole, err := analyzer.Join(rules, results)
		if err != nil {
			return nil, fmt.Errorf("%w; parts of %s", err, analyzer.QuoteText(string(files[0].Captures[i].Name)))
		}
		for i := range whole.Findings {
			whole.Findings[i].Capture = whole.Captures[0] // which others may have called otherwise
		}
		whole.Settle()
		all = append(all, Whole{whole, choice})
	}
	return all, nil
}

// matches returns an error unless a file is of the same division as the first one.
func (f *File) matches(first *File, rules []*analyzer.Rule) error {
	switch {
	case f.Version != first.Version:
		return fmt.Errorf("%s was written by version %s of this program, %s by %s; judge all parts with one version",
			first.Name, analyzer.QuoteText(first.Version), f.Name, analyzer.QuoteText(f.Version))
	case f.Selection.Rules != Catalogue(rules):
		return fmt.Errorf("%s was judged by other rules than this program has; judge all parts with one version", f.Name)
	case !f.Selection.same(&first.Selection):
		return fmt.Errorf("%s and %s report on different rules or exchanges; give all parts the same --rule, --no-rule, "+
			"--filter, --agent and --jwks", first.Name, f.Name)
	case len(f.Captures) != len(first.Captures):
		return fmt.Errorf("%s is of %s, %s of %d; give all parts the same captures, in the same order",
			first.Name, analyzer.Plural(len(first.Captures), "capture"), f.Name, len(f.Captures))
	}
	return nil
}

// same reports whether two selections are one.
func (s *Selection) same(other *Selection) bool { return reflect.DeepEqual(s, other) }

// with adds what is chosen in another part.
func (c *Choice) with(other *Choice) *Choice {
	if c == nil || other == nil {
		return other
	}
	c.Judged += other.Judged
	for seq := range other.LeftOut {
		c.LeftOut[seq] = true
	}
	return c
}
