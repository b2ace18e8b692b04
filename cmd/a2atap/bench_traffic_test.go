package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The words that bodies are made of, and how many different texts there are: traffic that repeats itself would flatter
// the compression of the capture.
const (
	benchWords = "about after again agent answer before booking budget carrier change check city cost date day deliver " +
		"detail early enough evening flight from hotel include itinerary journey keep late leave list member message more " +
		"morning never night note offer open option order part pass people place plan point price query rail ready request " +
		"reserve result return room route seat second share simple since station step still summary table team ticket time " +
		"today train travel under until update value visit week while window winter within without work year"
	benchTexts = 512
)

// ids have a width of their own, so that a body can be used again by writing over them.
const idWidth = 16

// newID returns an id that no other exchange of the process has, and that does not look like its neighbours.
func newID() string {
	n := idCount.Add(1) * 0x9e3779b97f4a7c15
	n ^= n >> 31
	var b [8]byte
	for i := range b {
		b[i] = byte(n >> (8 * i))
	}
	return hex.EncodeToString(b[:])
}

var idCount atomic.Uint64

// benchText returns n bytes of words, the same for the same number.
func benchText(number uint64, n int) string {
	words := strings.Fields(benchWords)
	random := rand.New(rand.NewPCG(number, 1))
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[random.IntN(len(words))])
		b.WriteByte(' ')
	}
	return b.String()[:n]
}

// texts returns the texts of one side. They are made once.
func texts(side uint64, n int) []string {
	key := [2]uint64{side, uint64(n)}
	textsMu.Lock()
	defer textsMu.Unlock()
	if textsMade[key] == nil {
		for i := range uint64(benchTexts) {
			textsMade[key] = append(textsMade[key], benchText(side<<32|i, n))
		}
	}
	return textsMade[key]
}

var (
	textsMu   sync.Mutex
	textsMade = make(map[[2]uint64][]string)
)

// Methods and heads of the exchanges: A2A 1.0 over JSON-RPC (A2A 1.0 section 9).
const (
	bodyStart    = `{"jsonrpc":"2.0","id":"`
	methodUnary  = "SendMessage"
	methodStream = "SendStreamingMessage"
	answerHead   = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
	streamHead   = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"
)

// appendRequest appends a whole request with a text.
func appendRequest(b []byte, host, method, id, text string) []byte {
	const (
		middle = `","method":"%s","params":{"message":{"messageId":"m-%s","role":"ROLE_USER","parts":[{"text":"%s"}]}}}`
		head   = "POST /rpc HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench/1.0\r\nAccept: application/json, text/event-stream\r\n" +
			"Content-Type: application/json\r\nA2A-Version: 1.0\r\nAuthorization: Bearer 2YotnFZFEjr1zCsicMWpAA\r\nContent-Length: %d\r\n\r\n"
	)
	size := len(bodyStart) + len(id) + len(middle) - 6 + len(method) + len(id) + len(text)
	b = fmt.Appendf(b, head, host, size)
	b = append(append(b, bodyStart...), id...)
	return fmt.Appendf(b, middle, method, id, text)
}

// appendAnswer appends a whole answer: a task with one artifact.
func appendAnswer(b []byte, id, text string) []byte {
	const middle = `","result":{"task":{"id":"t-%s","contextId":"c-%s","status":{"state":"TASK_STATE_COMPLETED",` +
		`"timestamp":"2026-03-01T10:00:00.000Z"},"artifacts":[{"artifactId":"a-%s","parts":[{"text":"%s"}]}]}}}`
	size := len(bodyStart) + len(id) + len(middle) - 8 + 3*len(id) + len(text)
	b = fmt.Appendf(b, answerHead, size)
	b = append(append(b, bodyStart...), id...)
	return fmt.Appendf(b, middle, id, id, id, text)
}

// appendEvent appends an event as a chunk. Its id is when it was sent, in nanoseconds since the start of the process.
func appendEvent(b []byte, result string) []byte {
	event := fmt.Sprintf("id: %d\ndata: %s\n\n", time.Since(processStart), result)
	return fmt.Appendf(b, "%x\r\n%s\r\n", len(event), event)
}

var processStart = time.Now()

// streamResult returns what one event of a stream holds: first the task, then artifacts, in the end that it is
// completed.
func streamResult(id string, k int, last bool, text string) string {
	start := bodyStart + id + `","result":`
	switch {
	case k == 0:
		return start +
			fmt.Sprintf(`{"task":{"id":"t-%s","contextId":"c-%s","status":{"state":"TASK_STATE_WORKING"}}}}`, id, id)
	case last:
		return start +
			fmt.Sprintf(`{"statusUpdate":{"taskId":"t-%s","contextId":"c-%s","status":{"state":"TASK_STATE_COMPLETED"}}}}`, id,
				id)
	}
	return start +
		fmt.Sprintf(`{"artifactUpdate":{"taskId":"t-%s","contextId":"c-%s","artifact":{"artifactId":"a-%s-%d","parts":[{"text":"%s"}]},"lastChunk":true}}}`,
			id, id, id, k, text)
}

// A pace says what the origin does with a stream.
type pace struct {
	events int             // of a stream
	every  time.Duration   // between them; 0 is as fast as they are taken
	hold   <-chan struct{} // the last event waits for it, if it is not nil
}

// An origin is the agent behind all ways. It is without net/http, so that it takes little of the processor.
type origin struct {
	addr   string
	answer atomic.Int64 // bytes of text in an answer
	pace   atomic.Pointer[pace]
}

// newOrigin starts an origin that ends with the benchmark.
func newOrigin(b *testing.B) *origin {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	o := &origin{addr: l.Addr().String()}
	o.pace.Store(&pace{})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go o.serve(c)
		}
	}()
	return o
}

func (o *origin) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReaderSize(c, 64<<10)
	var body, out []byte
	for n := 0; ; n++ {
		head, err := readHead(in)
		if err != nil {
			return
		}
		if cap(body) < head.length {
			body = make([]byte, head.length)
		}
		body = body[:head.length]
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		id := string(body[len(bodyStart) : len(bodyStart)+idWidth])
		if strings.Contains(string(body[:100]), methodStream) {
			o.stream(c, id)
			continue
		}
		all := texts(2, int(o.answer.Load()))
		out = appendAnswer(out[:0], id, all[n%len(all)])
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

// stream sends a stream of events. At full speed several go into one write, as a busy agent's would.
func (o *origin) stream(c net.Conn, id string) {
	p := o.pace.Load()
	all := texts(3, 400)
	out := appendEvent([]byte(streamHead), streamResult(id, 0, false, ""))
	next, pace := time.Now(), time.NewTimer(0)
	defer pace.Stop()
	for k := 1; k < p.events; k++ {
		if p.every > 0 || p.hold != nil || len(out) > 8<<10 {
			if _, err := c.Write(out); err != nil {
				return
			}
			out = out[:0]
		}
		switch {
		case p.hold != nil:
			<-p.hold
		case p.every > 0:
			next = next.Add(p.every)
			pace.Reset(time.Until(next))
			<-pace.C
		}
		out = appendEvent(out, streamResult(id, k, k == p.events-1, all[k%len(all)]))
	}
	c.Write(append(out, "0\r\n\r\n"...)) //nolint:errcheck // the client tells
}

// A head is what the two ends need to know of a head.
type head struct {
	ok     bool // an answer 200
	length int
}

// readHead reads a head up to its blank line.
func readHead(in *bufio.Reader) (h head, err error) {
	const field = "content-length:"
	for first := true; ; first = false {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return h, err
		}
		if first {
			h.ok = strings.HasPrefix(string(line), "HTTP/1.1 200 ")
		}
		if len(line) <= 2 {
			return h, nil
		}
		if len(line) > len(field) && strings.EqualFold(string(line[:len(field)]), field) {
			if h.length, err = strconv.Atoi(strings.TrimSpace(string(line[len(field):]))); err != nil {
				return h, err
			}
		}
	}
}

// readStream reads the head of an answer and calls each for the id of each event, until the stream ends.
func readStream(in *bufio.Reader, each func(id string)) error {
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		return err
	}
	lines := bufio.NewReaderSize(res.Body, 16<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if id, ok := strings.CutPrefix(string(line), "id: "); ok {
			each(strings.TrimSpace(id))
		}
	}
}
