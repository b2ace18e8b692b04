package web

import (
	"bytes"
	"context"
	"math"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report/exchanges"
	"a2atap/analyzer/snapshot"
	"a2atap/analyzer/summary"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/capture"
)

// A fragment is a part of the page.
type fragment struct {
	HTML string `json:"html"`
	Open bool   `json:"open,omitempty"` // its contents may grow
}

// A drawn is a rendering of exchanges: their trees, their ladders, and the contents of each.
type drawn struct {
	fragment
	Workflow uint64   `json:"workflow,omitempty"` // of a single exchange, if it has others
	Size     int      `json:"size,omitempty"`     // of the workflow
	Tasks    []string `json:"tasks,omitempty"`    // in the exchange
	Left     int      `json:"left,omitempty"`     // number of requested exchanges that are missing
}

// draw draws exchanges.
func draw(ctx context.Context, out *drawn, name string, j *verdict.Capture, seqs []uint64) error {
	shown := exchanges.Capture{Name: name, Source: j.Source, Chosen: append([]uint64{}, seqs...)}
	var err error
	if shown.Links, err = j.AllLinks(ctx); err != nil {
		return err
	}
	if shown.Reader, err = j.Reader(ctx); err != nil {
		return err
	}
	if shown.Notes, err = source.Notes(ctx, j.Source); err != nil {
		return err
	}
	rows := make(map[uint64]*snapshot.Row, len(seqs))
	var findings []analysis.Finding
	for _, seq := range seqs {
		row, err := j.Row(ctx, seq)
		if err != nil {
			return err
		}
		if row == nil {
			continue
		}
		rows[seq] = row
		out.Open = out.Open || row.Life == capture.StateOpen
		found, err := j.FindingsOf(ctx, row)
		if err != nil {
			return err
		}
		findings = append(findings, found[:min(len(found), math.MaxInt16)]...)
	}
	shown.Findings = len(findings)
	shown.Summary = func(seq uint64) *summary.Summary {
		if row := rows[seq]; row != nil {
			return &row.Summary
		}
		return nil
	}
	section, err := exchanges.Read(ctx, []exchanges.Capture{shown}, findings)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	err = section.WriteBody(&b)
	out.HTML = b.String()
	return err
}
