package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"a2atap/analyzer/reading"
	"a2atap/cmd/internal/redacted"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/recording"
)

// growthTraffic is the program that makes what BenchmarkGrowth reads, a process of its own so that the benchmark stays
// small: the memory of a process counts from that of the one that started it.
//
//	growth capture FROM TO N    writes N exchanges, and prints the task of some in the middle of them, and how many are A2A streams
//	growth mixed FROM TO N      the same, of which two in five are calls of models and tools
//	growth rows FROM TO         writes a row of comma-separated values for each exchange
//	growth packets FROM TO      writes the packets that would have carried the exchanges
func growthTraffic() {
	if err := makeGrowth(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
}

func makeGrowth(args []string) error {
	src, err := bolt.Read(args[1])
	if err != nil {
		return err
	}
	defer src.Close()
	if args[0] == "capture" || args[0] == "mixed" {
		n, err := strconv.Atoi(args[3])
		if err != nil {
			return err
		}
		task, streams, err := growCapture(src, args[2], n, args[0] == "mixed")
		fmt.Println(task, streams)
		return err
	}
	out, err := os.Create(args[2])
	if err != nil {
		return err
	}
	write := writeRow
	if args[0] == "packets" {
		write = writePackets
	}
	buffer := bufio.NewWriterSize(out, 1<<20)
	p := &packets{w: buffer}
	for x, err := range src.Exchanges(context.Background(), 1) {
		if err == nil {
			err = write(p, x)
		}
		if err != nil {
			return errors.Join(err, out.Close())
		}
	}
	return errors.Join(buffer.Flush(), out.Close())
}

var (
	freshIDs = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`) // in each repetition
	taskID   = regexp.MustCompile(`"taskId":"(` + freshIDs.String() + `)"`)
)

// The answer that fails, and how often: to the last exchange of one repetition in so many.
const (
	failedBody = `{"error":{"code":500,"status":"INTERNAL","message":"database is down"}}`
	failedEach = 10
)

var failedHead = fmt.Sprintf("HTTP/1.1 500 Internal Server Error\r\nContent-Type: application/json\r\n"+
	"Content-Length: %d\r\nDate: Mon, 04 May 2026 09:30:00 GMT\r\n\r\n", len(failedBody))

// growCapture writes n exchanges that are those of the demo again and again, with fresh ids: three in ten fetch a card,
// three deliver a notification, one is a stream and the others are single calls, of which one in a hundred exchanges
// fails. In a mixed one, calls of models and tools follow in each repetition. It returns a task in the middle of them, and the number of A2A streams.
func growCapture(src *bolt.Reader, to string, n int, mixed bool) (task string, streams int, err error) {
	ctx := context.Background()
	info, err := src.Info(ctx)
	if err != nil {
		return "", 0, err
	}
	var steps []capture.Step
	for s, err := range src.Steps(ctx, 1) {
		if err != nil {
			return "", 0, err
		}
		steps = append(steps, s.Clone())
	}
	last := info.Exchanges
	if mixed {
		if steps, info.Exchanges, err = withNeighbors(steps, info.Exchanges); err != nil {
			return "", 0, err
		}
	}
	store, err := bolt.Open(to, bolt.Options{Tool: "benchmark", Flush: 100 * time.Millisecond})
	if err != nil {
		return "", 0, err
	}
	sink := (&redacted.Options{Key: redact.NewKey()}).Sink(store)
	for copied := uint64(0); copied < uint64(n); copied += info.Exchanges {
		fresh := make(map[string]string)
		renew := func(text []byte) []byte {
			if text == nil {
				return nil
			}
			return freshIDs.ReplaceAllFunc(text, func(id []byte) []byte {
				if fresh[string(id)] == "" {
					fresh[string(id)] = uuid.NewString()
				}
				return []byte(fresh[string(id)])
			})
		}
		for _, s := range steps {
			fails := s.Seq == last && copied/info.Exchanges%failedEach == failedEach-1
			s = s.Clone()
			s.Arrival, s.Parsed, s.Keys = 0, nil, nil
			if s.Seq > 0 {
				s.Seq += copied
			}
			if s.Seq > uint64(n) {
				continue
			}
			switch what := s.What.(type) {
			case capture.Opened:
				what.ID, what.Conn = uuid.New(), what.Conn+copied
				what.Started = what.Started.Add(time.Duration(copied) * 50 * time.Millisecond)
				what.Head = renew(what.Head)
				s.What = what
			case capture.RequestBody:
				what.Data = renew(what.Data)
				s.What = what
				if bytes.Contains(what.Data, []byte(a2a.SendStreamingMessage.String())) {
					streams++
				}
			case capture.ResponseHead:
				if what.Head = renew(what.Head); fails {
					what.Head = []byte(failedHead)
				}
				s.What = what
			case capture.ResponseBody:
				what.Data = renew(what.Data)
				if found := taskID.FindSubmatch(what.Data); found != nil && copied <= uint64(n)/2 {
					task = string(found[1])
				}
				if fails {
					what.Data = []byte(failedBody)
				}
				s.What = what
			case capture.ResponseEnd:
				if fails {
					what.Size = int64(len(failedBody))
				}
				s.What = what
			case capture.ResponseEvent:
				what.Event.Raw = renew(what.Event.Raw)
				s.What = what
			}
			if err := sink.Append(s); err != nil {
				return "", 0, errors.Join(err, sink.Close())
			}
		}
	}
	return task, streams, sink.Close()
}

// withNeighbors appends the calls of BenchmarkNeighbors, each of them twice, to the steps of n exchanges. It returns the
// new number of exchanges.
func withNeighbors(steps []capture.Step, n uint64) ([]capture.Step, uint64, error) {
	memory := capture.NewMemory(capture.Info{})
	r := recording.New(recording.Options{Sink: memory, Seq: n, Conn: n, IfFull: recording.Wait})
	calls := neighborCalls()
	for range 2 {
		for i := range calls {
			calls[i].pass(r, recording.Everything)
		}
	}
	if err := r.Close(context.Background()); err != nil {
		return nil, 0, err
	}
	var begin, end time.Time // of the last exchange that has begun, and of all
	for _, s := range steps {
		if opened, ok := s.What.(capture.Opened); ok {
			begin = opened.Started
		}
		if at := begin.Add(s.Offset); at.After(end) {
			end = at
		}
	}
	for s, err := range memory.Steps(context.Background(), 1) {
		if err != nil {
			return nil, 0, err
		}
		if opened, ok := s.What.(capture.Opened); ok {
			opened.Started = end
			s.What = opened
			n = max(n, s.Seq)
		}
		steps = append(steps, s.Clone())
	}
	return steps, n, nil
}

// writeRow writes an exchange as comma-separated values: its number, its tasks, its bodies in hexadecimal digits.
func writeRow(p *packets, x *capture.Exchange) error {
	r, body := reading.Read(x), ""
	if x.Response != nil {
		body = string(x.Response.Body.Data)
	}
	_, err := fmt.Fprintf(p.w, "%d,%q,%x,%x\n", x.Seq, strings.Join(r.Tasks, " "), x.Request.Body.Data, body)
	return err
}

// writePackets writes an exchange as the packets of a TCP connection of its own.
//
// Sources: draft-gharris-opsawg-pcap-01 sections 4 and 5; RFC 791 section 3.1; RFC 9293 section 3.1.
func writePackets(p *packets, x *capture.Exchange) error {
	if x.Seq == 1 {
		head := binary.LittleEndian.AppendUint32(nil, 0xa1b2c3d4)
		head = binary.LittleEndian.AppendUint32(head, 2|4<<16) // version 2.4
		head = append(head, make([]byte, 8)...)
		head = binary.LittleEndian.AppendUint32(head, 1<<18)
		head = binary.LittleEndian.AppendUint32(head, 101) // LINKTYPE_RAW
		if _, err := p.w.Write(head); err != nil {
			return err
		}
	}
	const syn, ack, fin = 2, 16, 1
	client, server := uint16(20000+x.Seq%40000), uint16(80)
	answer := []byte{}
	if x.Response != nil {
		answer = append(append(answer, x.Response.Head...), x.Response.Body.Data...)
		for i := range x.Response.Events {
			answer = append(answer, x.Response.Events[i].Raw...)
		}
	}
	there, back := uint32(1), uint32(1)
	p.packet(x.Started, client, server, 0, 0, syn, nil)
	p.packet(x.Started, server, client, 0, there, syn|ack, nil)
	for message := append(append([]byte{}, x.Request.Head...), x.Request.Body.Data...); len(message) > 0; {
		piece := message[:min(len(message), maxPiece)]
		p.packet(x.Started, client, server, there, back, ack, piece)
		there, message = there+uint32(len(piece)), message[len(piece):]
	}
	for len(answer) > 0 {
		piece := answer[:min(len(answer), maxPiece)]
		p.packet(x.Started, server, client, back, there, ack, piece)
		back, answer = back+uint32(len(piece)), answer[len(piece):]
	}
	p.packet(x.Started, server, client, back, there, fin|ack, nil)
	p.packet(x.Started, client, server, there, back+1, fin|ack, nil)
	return p.err
}

// maxPiece is what a packet carries at most.
const maxPiece = 1400

// packets writes packets until one cannot be written.
type packets struct {
	w   io.Writer
	err error
}

func (p *packets) packet(at time.Time, from, to uint16, seq, ack uint32, flags byte, data []byte) {
	const headers = 40 // of IP and TCP
	size := uint32(headers + len(data))
	b := binary.LittleEndian.AppendUint32(nil, uint32(at.Unix()))
	b = binary.LittleEndian.AppendUint32(b, uint32(at.Nanosecond()/1000))
	b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, size), size)
	b = append(b, 0x45, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(size))
	b = append(b, 0, 0, 0, 0, 64, 6, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1)
	b = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(b, from), to)
	b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, seq), ack)
	b = append(b, 5<<4, flags, 0xff, 0xff, 0, 0, 0, 0)
	if _, err := p.w.Write(append(b, data...)); err != nil && p.err == nil {
		p.err = err
	}
}
