package a2a

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy/expect"
)

func TestOddities(t *testing.T) {
	rpc1, rpc03, rest03 := Call{Binding: JSONRPC, Operation: SendMessage, Dialects: onlyV1_0}, Call{
		Binding:   JSONRPC,
		Operation: SendMessage, Dialects: kindDialects,
	}, Call{Binding: HTTPJSON, Operation: SendMessage, Dialects: onlyV0_3}
	names := map[Oddity]string{
		UnknownMember: "unknown", LegacyMember: "legacy", SnakeMember: "snake",
		NullMember: "null", MistypedMember: "mistyped", SnakeMember | NullMember: "snake null",
	}
	for _, c := range []struct {
		name string
		call Call
		body string
		want string
	}{
		{
			"as it should be", rpc1,
			result(`{"task":{"id":"t","contextId":"c","status":{"state":"x","timestamp":"y"},` +
				`"artifacts":[{"artifactId":"a","parts":[{"data":null},{"text":"x","mediaType":"text/plain"}]}],` +
				`"history":[],"metadata":{"kind":1,"a_b":null}}}`), "",
		},
		{
			"1.0", rpc1,
			result(`{"task":{"kind":"task","context_id":null,"history":[7],"artifacts":null,"Id":1,"sessionId":"s",` +
				`"status":{"state":3}}}`), "kind legacy, context_id snake null, history mistyped, artifacts null, " +
				"Id unknown, sessionId unknown",
		},
		{
			"0.3", rpc03,
			result(`{"kind":"message","messageId":7,"contextId":7,"task_id":"t","taskId":null,` +
				`"parts":[{"kind":"file","file":{"name":1,"fileWithUri":"u"},"raw":"x"}]}`),
			"contextId mistyped, task_id snake, taskId null, raw unknown, name mistyped, fileWithUri unknown",
		},
		{
			"0.3 over HTTP+JSON", rest03,
			`{"message":{"messageId":"m","role":"ROLE_AGENT","content":[{"file":{"fileWithUri":"u"}}]}}`, "",
		},
		{
			"list",
			Call{Binding: JSONRPC, Operation: ListTasks, Dialects: onlyV1_0},
			result(`{"tasks":{},"pageSize":"10","totalSize":1.5,"nextPageToken":""}`),
			"tasks mistyped, totalSize mistyped",
		},
		{
			"push config",
			Call{Binding: JSONRPC, Operation: GetPushConfig, Dialects: onlyV1_0},
			result(`{"id":"p","url":"u","authentication":{"schemes":["Bearer"],"credentials":7}}`),
			"schemes unknown, credentials mistyped",
		},
	} {
		a := DecodeAnswer(&c.call, 200, "application/json", []byte(c.body))
		var got []string
		w := Walker{Visit: func(o *Entity) bool {
			const unusual = UnknownMember | LegacyMember | SnakeMember | NullMember | MistypedMember
			for m := range o.Odd(unusual) {
				got = append(got, m.Name.Text()+" "+names[m.Odd&unusual])
			}
			return true
		}}
		w.Payload(&a.Payload, &c.call, c.call.Dialects)
		expect.Same(t, c.name, c.want, strings.Join(got, ", "))
	}
}

// A walker that has seen other objects says of a member what one says that has seen none: whatever the names are, in
// any order, twice or escaped, and more than it remembers.
func TestMembersAsEver(t *testing.T) {
	words := []string{
		`"messageId"`, `"message_id"`, `"m\u0065ssageId"`, `"role"`, `"parts"`, `"text"`, `"kind"`, `"type"`, `"metadata"`,
		`"extensions"`, `"reference_task_ids"`, `"contextId"`, `"taskId"`, `"data"`, `"file"`, `"raw"`, `"final"`, `""`,
		`"` + strings.Repeat("long", 50) + `"`, `"` + strings.Repeat("long", 50) + `er"`, "\"\xff\"", "\"\xfe\"",
	}
	for i := range 2 * maxNames {
		words = append(words, fmt.Sprintf(`"own%d"`, i))
	}
	values := []string{`null`, `"x"`, `7`, `{}`, `[]`, `[{}]`, `true`}
	random := rand.New(rand.NewPCG(1, 2))
	object := func() string {
		var members []string
		for range random.IntN(12) {
			members = append(members, words[random.IntN(len(words))]+":"+values[random.IntN(len(values))])
		}
		return strings.Join(members, ",")
	}
	calls := []Call{
		{Binding: JSONRPC, Operation: SendMessage, Dialects: onlyV1_0},
		{Binding: JSONRPC, Operation: SendMessage, Dialects: kindDialects},
		{Binding: JSONRPC, Operation: SendMessage, Dialects: onlyV0_1},
		{Binding: HTTPJSON, Operation: SendMessage, Dialects: onlyV0_3},
		{Binding: HTTPJSON, Operation: GetTask, Dialects: onlyV1_0},
	}
	var said []string
	say := func(o *Entity) bool {
		said = append(said, fmt.Sprint(o.Type, " ", o.Oddities()))
		for m := range o.Odd(o.Oddities()) {
			slot := ""
			if m.Slot != nil {
				slot = m.Slot.Name
			}
			said = append(said, fmt.Sprint(string(m.Name.Raw()), " ", string(m.Value.Raw()), " ", slot, " ", m.Odd))
		}
		return true
	}
	used := Walker{Visit: say}
	for range 3000 {
		c := calls[random.IntN(len(calls))]
		c.Params = Parse([]byte(`{"message":{"parts":[{` + object() + `},{` + object() + `}],` + object() + `}}`)).Root
		said = nil
		used.Request(&c)
		got := said
		said = nil
		(&Walker{Visit: say}).Request(&c)
		if diff := cmp.Diff(said, got); diff != "" {
			t.Fatalf("%s in %v over %v, -afresh +as it went:\n%s", c.Params.Raw(), c.Dialects, c.Binding, diff)
		}
	}
	for _, n := range used.names {
		if len(n.known) > maxNames {
			t.Errorf("%d names are kept, want %d at most", len(n.known), maxNames)
		}
	}
}

// A member is read under its proto name where parsers take that, and null is not a member.
func TestMember(t *testing.T) {
	for _, c := range []struct {
		call Call
		want string
	}{
		{Call{Binding: JSONRPC, Operation: SendMessage, Dialects: onlyV1_0}, `"m" absent "t"`},
		{Call{Binding: JSONRPC, Operation: SendMessage, Dialects: kindDialects}, `absent absent "t"`},
		{Call{Binding: HTTPJSON, Operation: SendMessage, Dialects: onlyV0_3}, `"m" absent "t"`},
	} {
		c.call.Params = Parse([]byte(`{"message":{"message_id":"m","contextId":null,"context_id":"c","taskId":"t",` +
			`"task_id":"no"}}`)).Root
		w := Walker{Visit: func(o *Entity) bool {
			if o.Type == MessageEntity {
				var got []string
				for _, name := range []string{"messageId", "contextId", "taskId"} {
					if v := o.Member(name); v.Exists() {
						got = append(got, string(v.Raw()))
					} else {
						got = append(got, "absent")
					}
				}
				expect.Equal(t, fmt.Sprintf("%v %v", c.call.Binding, c.call.Dialects), c.want, strings.Join(got, " "))
			}
			return true
		}}
		w.Request(&c.call)
	}
}

// No table has a member twice for one dialect, and what is required is known.
func TestSlots(t *testing.T) {
	tables := map[string][]Slot{}
	for i, list := range entityFields {
		tables[EntityType(i).String()] = list
	}
	for o := SendMessage; o <= GetExtendedCard; o++ {
		tables["parameters of "+o.String()] = fieldsOf(ParamsEntity, o)
	}
	for name, list := range tables {
		seen := make(map[string]bool)
		for _, s := range list {
			for d := range (s.In | s.Proto).All() {
				key := fmt.Sprint(s.Name, d, s.In.Has(d))
				if seen[key] {
					t.Errorf("%s: %s stands twice in %s", name, s.Name, d)
				}
				seen[key] = true
			}
			if s.Required&^s.In != 0 || s.Legacy&s.In != 0 {
				t.Errorf("%s: %s is required or a leftover where it is not, or is", name, s.Name)
			}
		}
	}
}
