package grpc_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	old "github.com/a2aproject/a2a-go/a2apb"
	v1 "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"a2atap/proxy/expect"
	"a2atap/proxy/grpc"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/must"
)

// services are both generations as the SDKs have them.
var services = map[string]protoreflect.FileDescriptor{
	grpc.Service0_3: old.File_a2a_proto,
	grpc.Service1_0: v1.File_a2av1_proto,
}

// types returns the types that a service's methods need, by their names, each with the SDK's.
func types(t *testing.T, service string) map[*grpc.Type]protoreflect.MessageDescriptor {
	t.Helper()
	all := make(map[*grpc.Type]protoreflect.MessageDescriptor)
	methods := services[service].Services().Get(0).Methods()
	for i := range methods.Len() {
		theirs := methods.Get(i)
		ours, ok := grpc.MethodOf("/" + service + "/" + string(theirs.Name()))
		if !ok || !ours.Known() {
			t.Fatalf("there is no method %s in %s", theirs.Name(), service)
		}
		expect.Equal(t, fmt.Sprintf("%s: it streams", theirs.FullName()),
			theirs.IsStreamingServer(), ours.Streams)
		all[ours.Request], all[ours.Answer] = theirs.Input(), theirs.Output()
	}
	return all
}

func TestServices(t *testing.T) {
	t.Parallel()
	for service := range services {
		for ours, theirs := range types(t, service) {
			if ours.Name() != string(theirs.Name()) {
				t.Errorf("%s: got %s, want %s", service, ours.Name(), theirs.FullName())
			}
		}
	}
}

// TestAgainstSDK makes messages of the types of both SDKs at random and has protojson say what they are in JSON, and
// the other way round.
func TestAgainstSDK(t *testing.T) {
	t.Parallel()
	for service := range services {
		for ours, theirs := range types(t, service) {
			t.Run(string(theirs.FullName()), func(t *testing.T) {
				t.Parallel()
				made := maker{rand.New(rand.NewPCG(1, uint64(len(theirs.FullName()))))}
				kind := must.Get(protoregistry.GlobalTypes.FindMessageByName(theirs.FullName()))(t)
				for range 300 {
					message := kind.New()
					made.fill(message, 4)
					compare(t, ours, message)
				}
			})
		}
	}
}

func compare(t *testing.T, ours *grpc.Type, message protoreflect.Message) {
	t.Helper()
	wire := must.Get(proto.Marshal(message.Interface()))(t)
	text, unknown, err := ours.ToJSON(wire)
	if err != nil || len(unknown) > 0 {
		t.Fatalf("got the error %v and the unknown fields %v in %v", err, unknown, message)
	}
	theirs := must.Get(protojson.Marshal(message.Interface()))(t)
	if diff := cmp.Diff(as0_3(message.Descriptor(), parse(t, theirs)), parse(t, text)); diff != "" {
		t.Fatalf("protojson has another JSON than ToJSON (- +):\n%s", diff)
	}
	doc := jsondoc.Parse(text)
	again, err := ours.FromJSON(doc.Root)
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	back := message.New()
	must.Do(t, proto.Unmarshal(again, back.Interface()))
	if !proto.Equal(message.Interface(), back.Interface()) {
		t.Fatalf("got back %v, want %v", back, message)
	}
}

// as0_3 gives the parts of a message the name that 0.3.0 has for them. The SDK has that of later.
func as0_3(of protoreflect.MessageDescriptor, v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = as0_3(of, v[i])
		}
	case map[string]any:
		for i := range of.Fields().Len() {
			f := of.Fields().Get(i)
			held, name := v[f.JSONName()], f.JSONName()
			switch {
			case held == nil:
				continue
			case of.FullName() == "a2a.v1.Message" && name == "parts":
				delete(v, name)
				name = "content"
			}
			if f.IsMap() {
				for key, value := range held.(map[string]any) {
					if m := f.MapValue().Message(); m != nil {
						held.(map[string]any)[key] = as0_3(m, value)
					}
				}
			} else if m := f.Message(); m != nil {
				held = as0_3(m, held)
			}
			v[name] = held
		}
	}
	return v
}

func parse(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// A maker fills messages at random.
type maker struct{ *rand.Rand }

// fill sets about half of the fields of a message.
func (m maker) fill(message protoreflect.Message, depth int) {
	switch held := message.Interface().(type) {
	case *structpb.Struct:
		held.Fields = make(map[string]*structpb.Value)
		for range m.IntN(3) {
			held.Fields[m.text()] = m.any(depth)
		}
		return
	case *structpb.Value:
		proto.Merge(held, m.any(depth))
		return
	case *timestamppb.Timestamp:
		held.Seconds = m.Int64N(250_000_000_000) - 60_000_000_000
		held.Nanos = []int32{0, 7, 1000, 42_000_000, 999_999_999}[m.IntN(5)]
		return
	}
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if m.IntN(2) == 0 || depth == 0 && f.Message() != nil {
			continue
		}
		switch {
		case f.IsMap():
			held := message.Mutable(f).Map()
			for range m.IntN(3) {
				v := held.NewValue()
				if f.MapValue().Message() != nil {
					m.fill(v.Message(), depth-1)
				} else {
					v = protoreflect.ValueOfString(m.text())
				}
				held.Set(protoreflect.ValueOfString(m.text()).MapKey(), v)
			}
		case f.IsList():
			list := message.Mutable(f).List()
			for range m.IntN(3) {
				v := list.NewElement()
				if f.Message() != nil {
					m.fill(v.Message(), depth-1)
				} else {
					v = protoreflect.ValueOfString(m.text())
				}
				list.Append(v)
			}
		case f.Message() != nil:
			m.fill(message.Mutable(f).Message(), depth-1)
		default:
			message.Set(f, m.scalar(f))
		}
	}
}

func (m maker) scalar(f protoreflect.FieldDescriptor) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(m.text())
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(m.text()))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(m.IntN(2) == 0)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32([]int32{0, 1, -1, 1<<31 - 1, -1 << 31}[m.IntN(5)])
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(m.IntN(12) - 1))
	}
	panic(fmt.Sprintf("no value for %s", f.FullName()))
}

func (m maker) text() string {
	return []string{"", "a", "b", "\"\\/\n\x00\x7f", "aä\u2028\U0001f600", "a longer text <b>&amp;</b>"}[m.IntN(6)]
}

func (m maker) any(depth int) *structpb.Value {
	n := m.IntN(6)
	if depth == 0 {
		n = m.IntN(4)
	}
	switch n {
	case 0:
		return structpb.NewNullValue()
	case 1:
		return structpb.NewNumberValue([]float64{0, 1, -1.5, 1e21, 1e-7, 123456789012345678}[m.IntN(6)])
	case 2:
		return structpb.NewStringValue(m.text())
	case 3:
		return structpb.NewBoolValue(m.IntN(2) == 0)
	case 4:
		list := &structpb.ListValue{}
		for range m.IntN(3) {
			list.Values = append(list.Values, m.any(depth-1))
		}
		return structpb.NewListValue(list)
	}
	held := &structpb.Struct{}
	m.fill(held.ProtoReflect(), depth-1)
	return structpb.NewStructValue(held)
}

// TestEveryField sets each field of each type alone, with what is not as if it were not set.
func TestEveryField(t *testing.T) {
	t.Parallel()
	for service, file := range services {
		ours := grpc.Types(service)
		theirs := make(map[string]protoreflect.MessageDescriptor)
		for i := range file.Messages().Len() {
			m := file.Messages().Get(i)
			theirs[string(m.Name())] = m
		}
		if got, want := slices.Sorted(maps.Keys(ours)), slices.Sorted(maps.Keys(theirs)); len(got) != len(want)+1 {
			t.Errorf("%s: got the types %v, want %v and Empty", service, got, want)
		}
		for name, m := range theirs {
			kind, err := protoregistry.GlobalTypes.FindMessageByName(m.FullName())
			if err != nil || ours[name] == nil {
				t.Fatalf("%s: %v", m.FullName(), err)
			}
			for i := range m.Fields().Len() {
				f := m.Fields().Get(i)
				message := kind.New()
				switch {
				case f.IsMap():
					held := message.Mutable(f).Map()
					v := held.NewValue()
					if f.MapValue().Message() == nil {
						v = protoreflect.ValueOfString("said")
					}
					held.Set(protoreflect.ValueOfString("key").MapKey(), v)
				case f.IsList() && f.Message() != nil:
					message.Mutable(f).List().AppendMutable()
				case f.IsList():
					message.Mutable(f).List().Append(protoreflect.ValueOfString("said"))
				case f.Message() != nil && f.Message().FullName() == "google.protobuf.Value":
					message.Set(f, protoreflect.ValueOfMessage(structpb.NewBoolValue(true).ProtoReflect()))
				case f.Message() != nil:
					message.Mutable(f)
				case f.Kind() == protoreflect.BytesKind:
					message.Set(f, protoreflect.ValueOfBytes([]byte("said")))
				case f.Kind() == protoreflect.StringKind:
					message.Set(f, protoreflect.ValueOfString("said"))
				case f.Kind() == protoreflect.BoolKind:
					message.Set(f, protoreflect.ValueOfBool(true))
				case f.Kind() == protoreflect.Int32Kind:
					message.Set(f, protoreflect.ValueOfInt32(7))
				default:
					message.Set(f, protoreflect.ValueOfEnum(2))
				}
				compare(t, ours[name], message)
			}
		}
	}
}
