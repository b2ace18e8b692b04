package directory

import (
	"testing"

	"a2atap/analyzer/internal/address"
	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
)

func at(urls ...string) []a2a.Interface {
	var list []a2a.Interface
	for _, u := range urls {
		list = append(list, a2a.Interface{URL: u, Binding: a2a.JSONRPC, Dialects: a2a.Of(a2a.V1_0)})
	}
	return list
}

// Cards are found by the origin of what they declare, also when they are replaced or forgotten.
func TestDirectory(t *testing.T) {
	d := New[string](2)
	declared := func(url string) a2a.Dialects { return d.Declared(address.Of(url), a2a.JSONRPC) }
	only := a2a.Of(a2a.V1_0)

	d.Put(Key{URL: "a"}, "first", at("http://a/rpc", "http://a:9/rpc"))
	if declared("http://a/rpc") != only || declared("http://A:9/rpc/") != only || declared("http://a/other") != 0 {
		t.Error("a card does not declare what it names, or declares more")
	}
	if d.Declared("http://a/rpc", a2a.HTTPJSON) != 0 || d.DeclaredAt("http://a/rpc") != only {
		t.Error("a card declares another binding than it names, or nothing without one")
	}
	d.Put(Key{URL: "a"}, "second", at("http://a/new"))
	if declared("http://a/rpc") != 0 || declared("http://a:9/rpc") != 0 || declared("http://a/new") != only {
		t.Error("a card that was fetched again does not take the place of the old one")
	}
	if card, ok := d.Get(Key{URL: "a"}); !ok || card != "second" {
		t.Errorf("got %q, %v, want the card that was put last", card, ok)
	}
	d.Put(Key{URL: "b"}, "b", at("http://b/rpc"))
	d.Put(Key{URL: "c"}, "c", at("http://c/rpc"))
	if declared("http://a/new") != 0 || len(d.at) != 2 || d.Forgotten() != 1 {
		t.Errorf("a forgotten card is still found: %d origins, %d forgotten", len(d.at), d.Forgotten())
	}
}

// Of a card with many interfaces some are found, and no more.
func TestDirectoryIsBounded(t *testing.T) {
	urls := make([]string, 2*MaxInterfaces)
	for i := range urls {
		urls[i] = "http://a/rpc"
	}
	d := New[string](2)
	d.Put(Key{URL: "a"}, "a", at(urls...))
	expect.Equal(t, "interfaces are found", MaxInterfaces, len(d.Near("http://a/")))
	d.Put(Key{URL: "a"}, "a", nil)
	expect.Equal(t, "origins are left of a card that was replaced", 0, len(d.at))
}
