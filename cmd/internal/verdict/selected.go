package verdict

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/snapshot"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// Apply restricts the result to the selection: findings, and the counts of exchanges and calls. A filter's terms about
// findings restrict only the findings, since no findings is a valid answer.
func (s Selection) Apply(ctx context.Context, j *Capture, r *judgment.Result) error {
	if s.All() {
		return nil
	}
	if s.Judged {
		if err := s.findings(ctx, j, r); err != nil || s.agent == "" {
			return err
		}
		var err error
		if s, err = ParseSelection("", s.agent); err != nil {
			return err
		}
	}
	return s.choose(ctx, j, r)
}

// findings removes from the result the findings whose exchange is not selected.
func (s Selection) findings(ctx context.Context, j *Capture, r *judgment.Result) error {
	if err := j.prepare(ctx, &s); err != nil {
		return err
	}
	var chosen cli.Set
	in := make(map[uint64]bool)
	for i := range r.Findings {
		in[r.Findings[i].Place.Exchange] = true
	}
	for _, seq := range slices.Sorted(maps.Keys(in)) {
		row, err := j.Row(ctx, seq)
		if err != nil {
			return err
		}
		if row == nil {
			continue
		}
		is, err := j.Match(ctx, s, row)
		if err != nil {
			return err
		}
		if is {
			chosen.Add(seq)
		}
	}
	r.Keep(func(f *analysis.Finding) bool { return chosen.Has(f.Place.Exchange) })
	r.Selection = judgment.Selection{By: s.String(), Findings: true, Of: r.Counts.Exchanges}
	return nil
}

// choose applies a selection whose filter has no terms about findings.
func (s Selection) choose(ctx context.Context, j *Capture, r *judgment.Result) error {
	var counted judgment.Result
	var chosen cli.Set
	err := j.Choose(ctx, s, 1, math.MaxUint64, func(row *snapshot.Row, is bool) bool {
		if is {
			chosen.Add(row.Seq)
			counted.Count(row.Summary)
		}
		return true
	})
	if err != nil {
		return err
	}
	r.Keep(func(f *analysis.Finding) bool { return chosen.Has(f.Place.Exchange) })
	r.Selection = judgment.Selection{By: cmp.Or(r.Selection.By, s.String()), Findings: r.Selection.Findings, Of: r.Counts.Exchanges}
	r.Counts.Exchanges, r.Counts.Judged = counted.Counts.Exchanges, counted.Counts.Judged
	r.Choose(counted.Calls, chosen.Has)
	if s.agent != "" {
		r.Coverage = slices.DeleteFunc(r.Coverage, func(v judgment.Coverage) bool { return !s.isOf(v.Programs()) })
		r.Agents = slices.DeleteFunc(r.Agents, func(a judgment.Agent) bool { return a.Link != s.agent })
	}
	if counted.Counts.Exchanges == 0 {
		r.Coverage, r.Agents, r.Nothing = nil, nil, s.Nothing(ctx, j.Source)
	}
	return nil
}

// Nothing returns a message that nothing is selected, with the names that the capture has, for a command that does not
// check. It returns "" without a selection.
func (s Selection) Nothing(ctx context.Context, src capture.Source) string {
	if s.All() {
		return ""
	}
	clients, agents := make(map[string]bool), make(map[string]bool)
	for x, err := range src.Exchanges(ctx, 1) {
		if err != nil {
			return ""
		}
		var op a2a.Operation
		if x.Client.ByWebhook() {
			op = a2a.Webhook
		}
		programs := analysis.Link{Client: x.Client.Name, Agent: x.Agent.Name}.Programs(op)
		clients[programs.Client], agents[programs.Agent] = true, true
	}
	info, err := src.Info(ctx)
	if err != nil {
		return ""
	}
	there := info.Name + " has no exchange"
	if len(agents) > 0 {
		there = fmt.Sprintf("%s has the agents %s and the clients %s", info.Name, namesOf(agents), namesOf(clients))
	}
	return "nothing matches " + s.String() + s.suggestion(slices.Sorted(maps.Keys(agents)), slices.Sorted(maps.Keys(clients))) + "; " + there
}

// namesOf lists up to ten names.
func namesOf(set map[string]bool) string {
	const most = 10
	all := slices.Sorted(maps.Keys(set))
	text := analysis.Clean(strings.Join(all[:min(len(all), most)], ", "))
	if len(all) > most {
		text += fmt.Sprintf(" and %d more", len(all)-most)
	}
	return text
}

// String returns the flags that make the selection.
func (s Selection) String() string {
	var flags []string
	if s.agent != "" {
		flags = append(flags, "--agent "+s.agent)
	}
	if f := s.filter.String(); f != "" {
		flags = append(flags, "--filter '"+f+"'")
	}
	return strings.Join(flags, " and ")
}

// Chooser returns a function that reports selected exchanges of a source. command and name are for the message if the
// capture has to be checked.
func (s Selection) Chooser(
	ctx context.Context, e cli.Env, command, name string, src capture.Source,
) (func(*capture.Exchange) bool, error) {
	if s.All() {
		return func(*capture.Exchange) bool { return true }, nil
	}
	var chosen cli.Set
	err := Use(ctx, e, command, name, src, How{}, func(j *Capture) error {
		chosen = cli.Set{}
		return j.Choose(ctx, s, 1, math.MaxUint64, func(row *snapshot.Row, is bool) bool {
			if is {
				chosen.Add(row.Seq)
			}
			return true
		})
	})
	return func(x *capture.Exchange) bool { return chosen.Has(x.Seq) }, err
}

// candidates returns the exchanges that may be selected, and whether the capture has an index for that.
func (s Selection) candidates(
	ctx context.Context, src capture.Source, from uint64,
) (seqs iter.Seq2[uint64, error], ok bool) {
	if p, is := src.(*cli.Progress); is {
		src = p.Source
	}
	index, ok := src.(capture.Index)
	keys := s.filter.Keys()
	if !ok || len(keys) == 0 {
		return nil, false
	}
	key := keys[0]
	if key.Kind == "operation" {
		key.Value = reading.Normalize("op", key.Value)
	}
	return index.Find(ctx, key, from), true
}
