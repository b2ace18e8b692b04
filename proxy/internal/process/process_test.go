package process

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"a2atap/proxy/expect"
)

// printed is what lsof prints of a server with a worker, of a client, and of this process.
const printed = `p20
R1
cserver
f3
n127.0.0.1:9001
TST=LISTEN
TQR=0
f4
n*:9002
TST=LISTEN
p21
R20
cserver
f7
n127.0.0.1:49153->127.0.0.1:7001
TST=ESTABLISHED
p30
R1
ccurl
f5
n[::1]:49154->[::1]:7001
p50
R1
ctest
f3
n127.0.0.1:9003
TST=LISTEN
`

func TestLsof(t *testing.T) {
	at := netip.MustParseAddrPort
	sockets, processes := parseLsof([]byte(printed))
	s := surveyOf(sockets, processes,
		[][]netip.AddrPort{{at("127.0.0.1:9001"), at("[::1]:9001")}, {at("127.0.0.1:9003")}, {at("127.0.0.1:9004")}},
		[]Pair{{at("127.0.0.1:49153"), at("127.0.0.1:7001")}, {at("[::1]:49154"), at("[::1]:7001")}}, 50)
	expect.Equal(t, "", "[true true false] [[20] [] []]", fmt.Sprint(s.Listening, s.Holders))
	if agent, r := s.Caller(0); agent != 0 || r != Child {
		t.Errorf("agent %d, %d", agent, r)
	}
	if agent, r := s.Caller(1); r != None {
		t.Errorf("agent %d, %d", agent, r)
	}
	expect.Equal(t, "of a worker, of curl and of nobody: ports",
		"[] [] []", fmt.Sprint(s.Ports(0), s.Ports(1), s.Ports(2)))
	expect.Equal(t, "ports", "map[20:[9001 9002] 50:[9003]]", fmt.Sprint(s.ports))
	if _, r := s.Caller(2); r != None {
		t.Errorf("a connection that was not asked for is from an agent: %d", r)
	}
}

func TestRelations(t *testing.T) {
	for _, tt := range []struct {
		name          string
		owner, holder int
		processes     map[int]details
		want          Relation
	}{
		{"parent of the same program", 10, 20, map[int]details{10: {1, "python"}, 20: {10, "python"}}, Parent},
		{"parent of another program", 10, 20, map[int]details{10: {1, "pytest"}, 20: {10, "node"}}, None},
		{"parent that may not be looked at", 10, 20, map[int]details{10: {1, ""}, 20: {10, ""}}, None},
		{"child of another program", 20, 10, map[int]details{20: {10, "curl"}, 10: {1, "python"}}, Child},
		{"orphan", 20, 1, map[int]details{20: {1, "curl"}}, None},
		{"first process", 1, 20, map[int]details{1: {0, "python"}, 20: {1, "python"}}, None},
	} {
		s := Survey{Holders: [][]int{{tt.holder}}, owners: [][]int{{tt.owner}}, processes: tt.processes}
		if _, got := s.Caller(0); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestListenersOf(t *testing.T) {
	at := netip.MustParseAddrPort
	all := []listener{
		{at("0.0.0.0:1"), 1},
		{at("[::]:1"), 2},
		{at("127.0.0.1:1"), 3},
		{at("127.0.0.1:1"), 4},
		{at("0.0.0.0:2"), 5},
		{at("[::]:3"), 6},
	}
	for agent, want := range map[string]string{
		"127.0.0.1:1": "[3 4]", "127.0.0.2:1": "[1]", "[::1]:1": "[2]", "127.0.0.1:2": "[5]", "[::1]:2": "[]",
		"127.0.0.1:3": "[6]", "127.0.0.1:4": "[]", "[::1]:2 127.0.0.1:2": "[5]",
	} {
		var addresses []netip.AddrPort
		for _, a := range strings.Fields(agent) {
			addresses = append(addresses, at(a))
		}
		expect.Equal(t, agent+" is reached through", want, fmt.Sprint(listenersOf(addresses, all)))
	}
}

func FuzzTable(f *testing.F) {
	f.Add("   0: 0100007F:2329 00000000:0000 0A 0:0 00:0 0  1000        0 501 1\n")
	f.Add("   1: 0000000000000000FFFF00000100007F:C003 0000000000000000FFFF00000100007F:1B59 01 0:0 00:0 0 1 0 603 1\n")
	at := netip.MustParseAddrPort
	f.Fuzz(func(t *testing.T, text string) {
		table := newTable([]Pair{{at("127.0.0.1:49155"), at("127.0.0.1:7001")}})
		_ = table.read(strings.NewReader(text)) // a line can be too long
		for _, l := range table.listeners {
			if l.id == 0 {
				t.Errorf("%+v", l)
			}
		}
		expect.Equal(t, "connections", 1, len(table.made))
	})
}

func FuzzLsof(f *testing.F) {
	f.Add(printed)
	f.Add("n1.2.3.4:5\np1\nn1.2.3.4:5->x\nf\n\nTST=LISTEN")
	f.Fuzz(func(t *testing.T, text string) {
		sockets, _ := parseLsof([]byte(text))
		for _, s := range sockets {
			if s.pid == 0 || !s.local.IsValid() {
				t.Errorf("%+v", s)
			}
		}
	})
}
