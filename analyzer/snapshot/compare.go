package snapshot

import (
	"context"
	"fmt"
	"iter"
	"reflect"
)

// Compare describes the first difference between two readings of one capture; empty if they are equal.
func Compare(ctx context.Context, a, b *Results) (string, error) {
	rows := func(r *Results) iter.Seq2[*Row, error] { return r.Rows(ctx, 1) }
	at, err := differ(rows(a), rows(b), func(x, y *Row) bool { return reflect.DeepEqual(x, y) })
	if err != nil || at != nil {
		return describe("exchange %d", at, func(r *Row) uint64 { return r.Seq }), err
	}
	found, err := differ(a.Findings(ctx, 0), b.Findings(ctx, 0), func(x, y Numbered) bool {
		return x.Number == y.Number && reflect.DeepEqual(*x.Finding, *y.Finding)
	})
	if err != nil || found != nil {
		return describe("finding %d", found, func(n Numbered) uint64 { return n.Number + 1 }), err
	}
	one, err := a.Result(ctx)
	if err != nil {
		return "", err
	}
	other, err := b.Result(ctx)
	if err == nil && !reflect.DeepEqual(one, other) {
		return "the counts and the coverage", nil
	}
	return "", err
}

func describe[T any](words string, at *T, number func(T) uint64) string {
	if at == nil {
		return ""
	}
	return fmt.Sprintf(words, number(*at))
}

// differ returns the first value that differs between two sequences, or nil.
func differ[T any](a, b iter.Seq2[T, error], same func(T, T) bool) (*T, error) {
	nextA, stopA := iter.Pull2(a)
	defer stopA()
	nextB, stopB := iter.Pull2(b)
	defer stopB()
	for {
		x, errA, moreA := nextA()
		y, errB, moreB := nextB()
		switch {
		case errA != nil:
			return nil, errA
		case errB != nil:
			return nil, errB
		case !moreA && !moreB:
			return nil, nil
		case !moreA:
			return &y, nil
		case !moreB || !same(x, y):
			return &x, nil
		}
	}
}
