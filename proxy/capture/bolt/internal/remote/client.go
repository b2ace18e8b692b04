package remote

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/segments"
)

// errOtherVersion means that a recorder uses another version of the protocol.
var errOtherVersion = errors.New("the recorder has another version")

// A client is a reader's connection to a recorder, for one call at a time.
type client struct {
	conn     net.Conn
	holder   Holder
	calls    int  // how many were answered, after hello
	unusable bool // it cannot be used again
}

// dial connects to the recorder of a capture.
func dial(ctx context.Context, path string) (*client, error) {
	var errs []error
	for _, address := range socketPaths(path) {
		if err := trustedSocket(path, address); err != nil {
			errs = append(errs, err)
			continue
		}
		d := net.Dialer{Timeout: dialTimeout}
		conn, err := d.DialContext(ctx, "unix", address)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		c := &client{conn: conn}
		if err := c.hello(ctx); err != nil {
			c.close()
			return nil, err
		}
		return c, nil
	}
	return nil, errors.Join(errs...)
}

func (c *client) close() { c.conn.Close() }

func (c *client) hello(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	d, err := c.call(ctx, Request{Ask: AskHello})
	if err != nil {
		return err
	}
	c.calls = 0
	c.holder = d.holder()
	if d.Err == nil && c.holder.Version != WireVersion {
		return errOtherVersion
	}
	return d.Err
}

// AskHolder asks the recorder of a capture who it is. It works across versions.
func AskHolder(path string) (Holder, error) {
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	for _, address := range socketPaths(path) {
		if trustedSocket(path, address) != nil {
			continue
		}
		d := net.Dialer{Timeout: dialTimeout}
		conn, err := d.DialContext(ctx, "unix", address)
		if err != nil {
			continue
		}
		c := &client{conn: conn}
		err = c.hello(ctx)
		c.close()
		if err == nil || errors.Is(err, errOtherVersion) {
			return c.holder, nil
		}
	}
	return Holder{}, errBroken
}

// call sends a request and returns the answer's content. A context that ends breaks the connection, since the answer
// may still come.
func (c *client) call(ctx context.Context, q Request) (*decoder, error) {
	stop := context.AfterFunc(ctx, func() { c.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	err := WriteFrame(c.conn, q.Encode())
	var body []byte
	if err == nil {
		body, err = ReadFrame(c.conn, MaxAnswer)
	}
	if ctx.Err() != nil {
		c.unusable = true
		return nil, ctx.Err()
	}
	if err != nil || len(body) == 0 {
		c.unusable = true
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	c.calls++
	switch d := (&decoder{layout.Decoder{B: body[1:]}}); body[0] {
	case AnswerOK:
		return d, nil
	case answerEnded:
		return nil, capture.ErrEnded
	case answerNotYet:
		return nil, errNotYet
	case answerDamaged:
		return nil, fmt.Errorf("the recorder could not answer: %s: %w", d.Rest(), capture.ErrDamagedEntry)
	default:
		return nil, fmt.Errorf("the recorder could not answer: %s", d.Rest())
	}
}

// errNotYet is answerNotYet.
var errNotYet = errors.New("not yet")

func (c *client) info(ctx context.Context) (capture.Info, error) {
	d, err := c.call(ctx, Request{Ask: askInfo})
	if err != nil {
		return capture.Info{}, err
	}
	info := d.info()
	return info, c.check(d)
}

func (c *client) blocks(ctx context.Context, from uint64, limit int) ([]layout.Block, uint64, error) {
	d, err := c.call(ctx, Request{Ask: AskBlocks, From: from, Limit: limit})
	if err != nil {
		return nil, 0, err
	}
	last, found := d.Number(), d.blocks()
	return found, last, c.check(d)
}

func (c *client) fetch(ctx context.Context, firsts []uint64, limit int) ([]layout.Block, error) {
	d, err := c.call(ctx, Request{Ask: AskFetch, Firsts: firsts, Limit: limit})
	if err != nil {
		return nil, err
	}
	found := d.blocks()
	return found, c.check(d)
}

func (c *client) locate(ctx context.Context, seq uint64, limit int) (segments.Places, error) {
	d, err := c.call(ctx, Request{Ask: AskLocate, From: seq, Limit: limit})
	if err != nil {
		return segments.Places{}, err
	}
	at := d.places()
	return at, c.check(d)
}

func (c *client) find(ctx context.Context, key layout.KeyHash, seq uint64, limit int) ([]uint64, error) {
	d, err := c.call(ctx, Request{Ask: AskFind, From: seq, Limit: limit, key: key})
	if err != nil {
		return nil, err
	}
	found := d.numbers()
	return found, c.check(d)
}

// kept asks for entries. A recorder of an earlier version keeps none.
func (c *client) kept(ctx context.Context, keys [][]byte, limit int) ([][]byte, error) {
	keys = keys[:min(len(keys), MaxAsked)]
	if c.holder.asks < AskKept {
		return make([][]byte, len(keys)), nil
	}
	d, err := c.call(ctx, Request{Ask: AskKept, Limit: limit, Keys: keys})
	if err != nil {
		return nil, err
	}
	found := d.values()
	if d.Err == nil && (len(found) == 0 || len(found) > len(keys)) {
		d.Fail(layout.ErrDamaged)
	}
	return found, c.check(d)
}

func (c *client) keptRange(ctx context.Context, from, to []byte, limit int) ([]layout.KeptEntry, []byte, error) {
	if c.holder.asks < AskKeptRange {
		return nil, nil, nil
	}
	d, err := c.call(ctx, Request{Ask: AskKeptRange, Limit: limit, Low: from, End: to})
	if err != nil {
		return nil, nil, err
	}
	found, next := d.entries(), d.Bytes()
	if d.Err == nil && next != nil && bytes.Compare(next, from) <= 0 {
		d.Fail(layout.ErrDamaged) // it would never end
	}
	return found, next, c.check(d)
}

// mark requests the mark of the steps. For a recorder of an earlier version it derives a mark from the available data,
// which matches no file.
func (c *client) mark(ctx context.Context) ([]byte, error) {
	if c.holder.asks >= askMark {
		d, err := c.call(ctx, Request{Ask: askMark})
		if err != nil {
			return nil, err
		}
		sum := d.Bytes()
		return sum, c.check(d)
	}
	info, err := c.info(ctx)
	if err != nil {
		return nil, err
	}
	e := layout.Encoder{B: append([]byte("a2atap mark 0\x00"), info.ID[:]...)}
	e.Number(info.Arrivals)
	sum := sha256.Sum256(e.B)
	return sum[:], nil
}

// wait repeats the question until there is news: the recorder answers every few seconds.
func (c *client) wait(ctx context.Context, from uint64) error {
	for {
		_, err := c.call(ctx, Request{Ask: AskWait, From: from})
		if !errors.Is(err, errNotYet) {
			return err
		}
	}
}

// check makes an answer that could not be decoded a broken connection.
func (c *client) check(d *decoder) error {
	if d.Err != nil {
		c.unusable = true
		return fmt.Errorf("%w: %w", errBroken, d.Err)
	}
	return nil
}
