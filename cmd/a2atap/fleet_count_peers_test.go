//go:build peers && unix

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/must"
)

// fleetBlocks reads a stream with none of the program's code: the blocks on each subject, as they lie there. The numbers
// in the headers have to follow each other, so that nothing is there twice. What was begun in parts and not finished is
// no block.
func fleetBlocks(t *testing.T, address string) map[string][]bolt.Block {
	t.Helper()
	u := must.Get(url.Parse(address))(t)
	ctx, cancel := context.WithTimeout(t.Context(), must.Patience)
	defer cancel()
	c := must.Get(nats.Connect(u.Scheme + "://" + u.Host))(t)
	defer c.Close()
	js := must.Get(jetstream.New(c))(t)
	// until does something until the cluster, of which a part may just have come back, answers: requests get lost there.
	const patience = 2 * time.Second
	until := func(do func(context.Context) error) {
		t.Helper()
		for {
			bounded, cancel := context.WithTimeout(ctx, patience)
			err := do(bounded)
			cancel()
			switch {
			case err == nil:
				return
			case ctx.Err() != nil, !errors.Is(err, nats.ErrNoResponders) && !errors.Is(err, nats.ErrTimeout) &&
				!errors.Is(err, context.DeadlineExceeded):
				t.Fatal(err)
			}
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}
	var stream jetstream.Stream
	until(func(ctx context.Context) (err error) {
		stream, err = js.Stream(ctx, strings.Trim(u.Path, "/"))
		return err
	})
	var consumer jetstream.Consumer
	until(func(ctx context.Context) (err error) {
		consumer, err = stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
		return err
	})
	found := make(map[string][]bolt.Block)
	parts, next := make(map[string][]byte), make(map[string]uint64)
	for seq := uint64(0); seq < stream.CachedInfo().State.LastSeq; {
		var m jetstream.Msg
		until(func(context.Context) (err error) {
			m, err = consumer.Next(jetstream.FetchMaxWait(patience))
			return err
		})
		meta := must.Get(m.Metadata())(t)
		seq = meta.Sequence.Stream
		on := m.Subject()
		var first, last, part, of uint64
		fmt.Sscanf(m.Headers().Get("A2atap-Arrivals"), "%d-%d", &first, &last)
		if fmt.Sscanf(m.Headers().Get("A2atap-Part"), "%d/%d", &part, &of); part < 2 {
			parts[on] = nil
		}
		parts[on] = append(parts[on], m.Data()...)
		if part < of {
			continue
		}
		if first != next[on]+1 {
			t.Errorf("message %d on %s has steps %d to %d; those to %d were there", seq, on, first, last, next[on])
		}
		next[on] = last
		blocks := splitFleet(parts[on])
		if len(blocks) > 0 && blocks[0].First != first || len(blocks) == 0 && last >= first {
			t.Errorf("message %d on %s has steps %d to %d, and %d blocks", seq, on, first, last, len(blocks))
		}
		found[on] = append(found[on], blocks...)
		parts[on] = nil
	}
	return found
}

// splitFleet splits data as docs/capture-format.md describes it: the length of each block and the number of its first
// step precede the block.
func splitFleet(data []byte) (blocks []bolt.Block) {
	for len(data) >= 12 {
		n := binary.LittleEndian.Uint32(data)
		blocks = append(blocks, bolt.Block{First: binary.LittleEndian.Uint64(data[4:]), Packed: data[12 : 12+n]})
		data = data[12+n:]
	}
	return blocks
}

// checkFleet demands that each committed block of some captures is in a stream, once, in order and byte for byte, and
// nothing else.
func checkFleet(t *testing.T, address string, paths ...string) {
	t.Helper()
	found := fleetBlocks(t, address)
	if len(found) != len(paths) {
		t.Errorf("messages are on %q, want %d subjects", slices.Sorted(maps.Keys(found)), len(paths))
	}
	for _, path := range paths {
		id, want := committed(t, path)
		var got []bolt.Block
		for on, blocks := range found {
			if strings.HasSuffix(on, "."+id) {
				got = blocks
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d blocks of %s arrived, want %d", len(got), path, len(want))
		}
		for i := range min(len(got), len(want)) {
			if got[i].First != want[i].First || !bytes.Equal(got[i].Packed, want[i].Packed) {
				t.Errorf("block %d of %s, with arrival number %d, arrived as another, with %d", i, path, want[i].First,
					got[i].First)
				break
			}
		}
		t.Logf("%d blocks, %d steps of %s arrived", len(got), want[len(want)-1].Last, path)
	}
}

// committed returns the id of a capture as in subjects, and its blocks.
func committed(t *testing.T, path string) (id string, blocks []bolt.Block) {
	t.Helper()
	r := must.Get(bolt.Read(path))(t)
	defer r.Close()
	info := must.Get(r.Info(t.Context()))(t)
	for b, err := range r.Blocks(t.Context(), 1) {
		must.Do(t, err)
		blocks = append(blocks, b)
	}
	return strings.ReplaceAll(info.ID.String(), "-", ""), blocks
}

// eventually asks again and again: what another process does cannot be waited for.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(must.Patience); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("this did not come: %s", what)
		}
		<-time.After(10 * time.Millisecond)
	}
}
