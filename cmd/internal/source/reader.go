package source

import (
	"context"

	"a2atap/analyzer/reading"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
)

// NewReader returns a reader of a capture's exchanges. The reader knows the cards in the capture if the capture can
// find them without reading everything.
func NewReader(ctx context.Context, src capture.Source) (*reading.Reader, error) {
	reader := &reading.Reader{}
	if p, ok := src.(*cli.Progress); ok {
		src = p.Source
	}
	ours, ok := src.(Indexed)
	if !ok {
		return reader, nil
	}
	for _, op := range []a2a.Operation{a2a.GetCard, a2a.GetExtendedCard} {
		for x, err := range exchangesWith(ctx, ours, capture.Key{Kind: "operation", Value: op.String()}, 1) {
			if err != nil {
				return nil, err
			}
			reader.Read(x)
		}
	}
	return reader, nil
}

// StoreOf returns the file of a capture in a2atap's format; nil for other sources.
func StoreOf(src capture.Source) *bolt.Reader {
	switch src := src.(type) {
	case *bolt.Reader:
		return src
	case *bolt.Store:
		return &src.Reader
	case *hidden:
		return StoreOf(src.Indexed)
	case hiddenReader:
		return src.reader
	case *cli.Progress:
		return StoreOf(src.Source)
	}
	return nil
}
