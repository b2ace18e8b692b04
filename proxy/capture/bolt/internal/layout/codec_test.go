package layout

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// EveryStep has a step of each kind with each field set, and one with none.
func everyStep() []capture.Step {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	peer := capture.Peer{Name: "n", Addr: "a:1", URL: "http://u", How: "h"}
	steps := []capture.Step{
		{
			Seq: 1,
			What: capture.Opened{
				ID: uuid.UUID{1, 2, 3}, Conn: 9, Started: at, Client: peer, Agent: peer,
				Head: []byte("GET"), Stream: 7,
			},
		},
		{Seq: 1, What: capture.Opened{}},
		{Seq: 1 << 60, Offset: 5, What: capture.RequestBody{Data: []byte{0, 255}, Dropped: 3, Decoded: true}},
		{Seq: 1, What: capture.RequestBody{}},
		{Seq: 1, What: capture.RequestBody{Data: []byte{}}},
		{Seq: 1, What: capture.RequestEnd{Size: capture.NotKnown, Trailer: []byte("A: b\r\n")}},
		{Seq: 1, What: capture.RequestEnd{}},
		{Seq: 1, What: capture.Informational{Head: []byte("HTTP/1.1 100\r\n\r\n")}},
		{Seq: 1, What: capture.ResponseHead{Head: []byte("HTTP/1.1 200\r\n\r\n"), Stream: true}},
		{Seq: 1, What: capture.ResponseBody{Data: []byte("x"), Dropped: 1 << 40}},
		{Seq: 1, Offset: 7, What: capture.ResponseEvent{
			Event: capture.Event{K: 3, At: 7, Raw: []byte("data: 1\n\n"), Dropped: 2, Unterminated: true},
		}},
		{Seq: 1, What: capture.ResponseEnd{Size: 5}},
		{
			Seq: 1,
			What: capture.Fact{
				Client: peer, Rewrites: []capture.Rewrite{{Place: "p", Was: "w", Now: "n"}, {}},
				Note: "é", Replayed: true,
			},
		},
		{Seq: 1, What: capture.Fact{}},
		{Seq: 1, Offset: capture.NotKnown, What: capture.Closed{
			Fault: &capture.TransportFault{Kind: "k", Side: "s", Detail: "d"}, Interrupted: true, Dropped: 8,
		}},
		{Seq: 1, What: capture.Closed{}},
		{Seq: 0, What: capture.Lost{Exchanges: 3, Bytes: 4, Reason: "r"}},
		{Seq: 0, What: capture.Crash{}.Lost()},
		{Seq: 0, What: capture.Crash{After: time.Unix(1_772_359_200, 5).UTC(), Within: time.Second}.Lost()},
	}
	return steps
}

func TestStepsSurviveTheCodec(t *testing.T) {
	var raw []byte
	var err error
	for _, want := range everyStep() {
		if raw, err = AppendStep(raw, &want); err != nil {
			t.Fatal(err)
		}
	}
	packed := sealed(41, raw)
	unsealed, err := packed.Unseal()
	must.Do(t, err)
	for _, want := range everyStep() {
		var one []byte
		if one, unsealed, err = Split(unsealed); err != nil {
			t.Fatal(err)
		}
		expect.Same(t, "", want, must.Get(DecodeStep(one, true))(t))
		expect.Equal(t, "peek", want.Seq, must.Get(PeekSeq(one))(t))
	}
	expect.Equal(t, "bytes left", 0, len(unsealed))
}

func TestDecodeNamesWhatItDoesNotKnow(t *testing.T) {
	for name, c := range map[string]struct {
		bytes []byte
		want  string
	}{
		"unknown tag":     {[]byte{99, 1, 0}, "tag 99: format 4 has no such kind of step"},
		"empty":           {nil, "damaged"},
		"short":           {[]byte{tagRequestBody, 1, 0, 200}, "damaged"},
		"too long":        {[]byte{tagInformational, 1, 0, 0, 7}, "1 extra bytes"},
		"rewrites":        {append([]byte{tagFact, 1, 0, 0, 0, 0, 0}, 0xff, 0xff, 0xff, 0xff, 0x0f), "damaged"},
		"impossible flag": {[]byte{tagResponseHead, 1, 0, 0, 2}, "damaged"},
	} {
		expect.ErrorHas(t, name, c.want, expect.Err(DecodeStep(c.bytes, true)))
	}
}

func TestEncodeRefusesWhatTheFormatLacks(t *testing.T) {
	before := []byte("before")
	got, err := AppendStep(before, &capture.Step{Seq: 1})
	if err == nil || !bytes.Equal(got, before) {
		t.Errorf("a step without content: %q, error %v", got, err)
	}
	expect.Error(t, "a step over the limit was encoded",
		expect.Err(AppendStep(nil, &capture.Step{What: capture.Fact{Note: strings.Repeat("x", maxStep)}})))
}

func TestUnsealFindsDamage(t *testing.T) {
	raw := must.Get(AppendStep(nil, &everyStep()[0]))(t)
	for i := range sealed(1, raw).Value {
		b := sealed(1, raw)
		b.Value[i] ^= 0x40
		expect.Error(t, fmt.Sprintf("a flipped bit in byte %d was not found", i), expect.Err(b.Unseal()))
	}
	for n := range sealed(1, raw).Value {
		expect.Error(t, fmt.Sprintf("a block cut at %d was not found", n),
			expect.Err((Block{First: 1, Value: sealed(1, raw).Value[:n]}).Unseal()))
	}
}

func FuzzDecodeStep(f *testing.F) {
	for _, s := range everyStep() {
		b := must.Get(AppendStep(nil, &s))(f)
		f.Add(b[lengthSize:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := DecodeStep(b, false)
		if err != nil {
			return
		}
		again, err := AppendStep(nil, &s)
		must.Do(t, err)
		back, err := DecodeStep(again[lengthSize:], true)
		must.Do(t, err)
		expect.Same(t, "", s, back)
	})
}

// sealed is seal with room of its own.
func sealed(first uint64, raw []byte) Block {
	b, _ := Seal(nil, first, raw)
	return b
}

// FuzzUnseal reads blocks that may not be blocks.
func FuzzUnseal(f *testing.F) {
	var raw []byte
	for _, s := range everyStep() {
		raw, _ = AppendStep(raw, &s)
	}
	f.Add(sealed(1, raw).Value, true)
	f.Add(sealed(1, bytes.Repeat(raw, 20)).Value, true)
	f.Fuzz(func(t *testing.T, value []byte, mend bool) {
		if mend && len(value) > BlockHeader {
			value = bytes.Clone(value) // it is the fuzzer's
			binary.LittleEndian.PutUint32(value[1:], CRC(value[BlockHeader:]))
		}
		b := Block{First: 1, Value: value}
		b.Last() //nolint:errcheck // it must not panic
		raw, err := b.Unseal()
		for err == nil && len(raw) > 0 {
			var one []byte
			if one, raw, err = Split(raw); err == nil {
				_, err = PeekSeq(one)
				DecodeStep(one, false)
			}
		}
	})
}
