package bolt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"time"

	"a2atap/proxy/capture"
)

// errOtherVersion says that a recorder speaks another version of the protocol.
var errOtherVersion = errors.New("the recorder is of another version")

// A client is a reader's connection to a recorder, for one call at a time.
type client struct {
	conn     net.Conn
	holder   holder
	calls    int  // how many were answered, after hello
	unusable bool // it cannot be used again
}

// dial connects to the recorder of a capture.
func dial(ctx context.Context, path string) (*client, error) {
	var errs []error
	for _, address := range socketPaths(path) {
		if err := trusted(address); err != nil {
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
	d, err := c.call(ctx, request{ask: askHello})
	if err != nil {
		return err
	}
	c.calls = 0
	c.holder = d.holder()
	if d.err == nil && c.holder.version != wireVersion {
		return errOtherVersion
	}
	return d.err
}

// askHolder asks the recorder of a capture who it is. It works across versions.
func askHolder(path string) (holder, error) {
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	for _, address := range socketPaths(path) {
		if trusted(address) != nil {
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
	return holder{}, errBroken
}

// call sends a request and returns the answer's content. A context that ends breaks the connection, since the answer
// may still come.
func (c *client) call(ctx context.Context, q request) (*wireDecoder, error) {
	stop := context.AfterFunc(ctx, func() { c.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	err := writeFrame(c.conn, q.encode())
	var body []byte
	if err == nil {
		body, err = readFrame(c.conn, maxAnswer)
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
	switch d := (&wireDecoder{decoder{b: body[1:]}}); body[0] {
	case answerOK:
		return d, nil
	case answerEnded:
		return nil, capture.ErrEnded
	case answerNotYet:
		return nil, errNotYet
	case answerDamaged:
		return nil, fmt.Errorf("the recorder could not answer: %s: %w", d.rest(), capture.ErrDamagedEntry)
	default:
		return nil, fmt.Errorf("the recorder could not answer: %s", d.rest())
	}
}

// errNotYet is answerNotYet.
var errNotYet = errors.New("not yet")

func (c *client) info(ctx context.Context) (capture.Info, error) {
	d, err := c.call(ctx, request{ask: askInfo})
	if err != nil {
		return capture.Info{}, err
	}
	info := d.info()
	return info, c.check(d)
}

func (c *client) blocks(ctx context.Context, from uint64, limit int) ([]block, uint64, error) {
	d, err := c.call(ctx, request{ask: askBlocks, from: from, limit: limit})
	if err != nil {
		return nil, 0, err
	}
	last, found := d.number(), d.blocks()
	return found, last, c.check(d)
}

func (c *client) fetch(ctx context.Context, firsts []uint64, limit int) ([]block, error) {
	d, err := c.call(ctx, request{ask: askFetch, firsts: firsts, limit: limit})
	if err != nil {
		return nil, err
	}
	found := d.blocks()
	return found, c.check(d)
}

func (c *client) locate(ctx context.Context, seq uint64, limit int) (places, error) {
	d, err := c.call(ctx, request{ask: askLocate, from: seq, limit: limit})
	if err != nil {
		return places{}, err
	}
	at := d.places()
	return at, c.check(d)
}

func (c *client) find(ctx context.Context, key keyHash, seq uint64, limit int) ([]uint64, error) {
	d, err := c.call(ctx, request{ask: askFind, from: seq, limit: limit, key: key})
	if err != nil {
		return nil, err
	}
	found := d.numbers()
	return found, c.check(d)
}

// kept asks for entries. A recorder of an earlier version keeps none.
func (c *client) kept(ctx context.Context, keys [][]byte, limit int) ([][]byte, error) {
	keys = keys[:min(len(keys), maxAsked)]
	if c.holder.asks < askKept {
		return make([][]byte, len(keys)), nil
	}
	d, err := c.call(ctx, request{ask: askKept, limit: limit, keys: keys})
	if err != nil {
		return nil, err
	}
	found := d.values()
	if d.err == nil && (len(found) == 0 || len(found) > len(keys)) {
		d.fail(errDamaged)
	}
	return found, c.check(d)
}

func (c *client) keptRange(ctx context.Context, from, to []byte, limit int) ([]keptEntry, []byte, error) {
	if c.holder.asks < askKeptRange {
		return nil, nil, nil
	}
	d, err := c.call(ctx, request{ask: askKeptRange, limit: limit, low: from, end: to})
	if err != nil {
		return nil, nil, err
	}
	found, next := d.entries(), d.bytes()
	if d.err == nil && next != nil && bytes.Compare(next, from) <= 0 {
		d.fail(errDamaged) // it would never end
	}
	return found, next, c.check(d)
}

// mark asks for what identifies the steps. That of a recorder of an earlier version is made of what it can say, and is
// that of no file.
func (c *client) mark(ctx context.Context) ([]byte, error) {
	if c.holder.asks >= askMark {
		d, err := c.call(ctx, request{ask: askMark})
		if err != nil {
			return nil, err
		}
		sum := d.bytes()
		return sum, c.check(d)
	}
	info, err := c.info(ctx)
	if err != nil {
		return nil, err
	}
	e := encoder{append([]byte("a2atap mark 0\x00"), info.ID[:]...)}
	e.number(info.Arrivals)
	sum := sha256.Sum256(e.b)
	return sum[:], nil
}

// wait asks again until there is something to say: the recorder answers each few seconds.
func (c *client) wait(ctx context.Context, from uint64) error {
	for {
		_, err := c.call(ctx, request{ask: askWait, from: from})
		if !errors.Is(err, errNotYet) {
			return err
		}
	}
}

// check makes an answer that could not be decoded a broken connection.
func (c *client) check(d *wireDecoder) error {
	if d.err != nil {
		c.unusable = true
		return fmt.Errorf("%w: %w", errBroken, d.err)
	}
	return nil
}
