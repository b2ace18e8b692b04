package grpc_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoregistry"

	"a2atap/proxy/grpc"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/must"
)

// FuzzToJSON compares what ToJSON makes of any bytes with what the SDKs' own decoders do.
func FuzzToJSON(f *testing.F) {
	for _, seed := range messages {
		for i := range fuzzed {
			f.Add(byte(i), []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, wire []byte) {
		of := fuzzed[int(which)%len(fuzzed)]
		method, _ := grpc.MethodOf("/" + of.service + "/" + string(of.method))
		ours, theirs := method.Request, services[of.service].Services().Get(0).Methods().ByName(of.method).Input()
		if of.answer {
			ours, theirs = method.Answer, services[of.service].Services().Get(0).Methods().ByName(of.method).Output()
		}
		kind, err := protoregistry.GlobalTypes.FindMessageByName(theirs.FullName())
		must.Do(t, err)
		message := kind.New()
		refused := proto.Unmarshal(wire, message.Interface())
		text, _, err := ours.ToJSON(wire)
		if err != nil {
			if _, failed := protojson.Marshal(message.Interface()); refused == nil && failed == nil && !isLimit(err) {
				t.Fatalf("got %v, and protojson says nothing", err)
			}
			return
		}
		if refused != nil {
			t.Fatalf("got %s, and the SDK says %v", text, refused)
		}
		doc := jsondoc.Parse(text)
		if doc.Err != nil || len(doc.Duplicates) > 0 {
			t.Fatalf("%v and %v in %s", doc.Err, doc.Duplicates, text)
		}
		if json, err := protojson.Marshal(message.Interface()); err == nil {
			if diff := cmp.Diff(as0_3(message.Descriptor(), parse(t, json)), parse(t, text)); diff != "" {
				t.Fatal(diff)
			}
		}
		again, err := ours.FromJSON(doc.Root)
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if now, _, err := ours.ToJSON(again); err != nil || !bytes.Equal(now, text) {
			t.Fatalf("got %s and then %s, %v", text, now, err)
		}
	})
}

// Where nothing is replaced a message stays byte for byte; where all is, it stays one of its type, and its strings are
// those that were asked for, where they were asked for.
func FuzzReplace(f *testing.F) {
	for _, seed := range messages {
		for i := range fuzzed {
			f.Add(byte(i), []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, wire []byte) {
		of := fuzzed[int(which)%len(fuzzed)]
		method, _ := grpc.MethodOf("/" + of.service + "/" + string(of.method))
		kind := method.Request
		if of.answer {
			kind = method.Answer
		}
		if got := kind.Replace(wire, func(string, string) (string, bool) { return "", false }); !bytes.Equal(got, wire) {
			t.Fatalf("%q became %q", wire, got)
		}
		same := kind.Replace(wire, func(_, text string) (string, bool) { return text, true })
		was, _, err := kind.ToJSON(wire)
		now, _, err2 := kind.ToJSON(same)
		if (err == nil) != (err2 == nil) || !bytes.Equal(was, now) {
			t.Fatalf("%s, %v became %s, %v", was, err, now, err2)
		}
		if err != nil {
			return
		}
		texts := make(map[string]string)
		kind.Replace(wire, func(pointer, text string) (string, bool) {
			texts[pointer] = text
			return "", false
		})
		doc := jsondoc.Parse(was)
		for pointer, text := range texts {
			if v := doc.Root.At(pointer); v.Exists() && v.Text() == text {
				longer := kind.Replace(wire, func(at, _ string) (string, bool) { return text + " and more", at == pointer })
				after, _, err := kind.ToJSON(longer)
				if got := jsondoc.Parse(after); err != nil || got.Root.At(pointer).Text() != text+" and more" {
					t.Fatalf("%v, %s became %s at %s", err, was, after, pointer)
				}
				break
			}
		}
	})
}

func FuzzCut(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x02ab\x01\x00\x00\x00\x09c"), "gzip")
	f.Add([]byte("\x07\x00"), "identity")
	f.Fuzz(func(t *testing.T, body []byte, encoding string) {
		var again []byte
		for rest := body; ; {
			frame, after, ok := grpc.Cut(rest)
			if !ok {
				again = append(again, rest...)
				break
			}
			again = append(again, rest[:grpc.PrefixSize]...)
			again = append(again, frame.Message...)
			if plain, err := frame.Plain(encoding); err == nil && !frame.Compressed && !bytes.Equal(plain, frame.Message) {
				t.Errorf("got %q of %q", plain, frame.Message)
			}
			rest = after
		}
		if !bytes.Equal(again, body) {
			t.Errorf("the frames of %q are %q", body, again)
		}
	})
}

func FuzzStatus(f *testing.F) {
	f.Add("5", "no such%20task", notFound)
	f.Add("x", "%", "%")
	f.Fuzz(func(t *testing.T, code, message, details string) {
		s, ok := grpc.StatusOf(trailer(code, message, details))
		if ok != (code != "") {
			t.Fatalf("got %v for the code %q", ok, code)
		}
		if doc := jsondoc.Parse(s.JSON()); doc.Err != nil || doc.InvalidUTF8 >= 0 {
			t.Errorf("%v in %s", doc.Err, s.JSON())
		}
	})
}
