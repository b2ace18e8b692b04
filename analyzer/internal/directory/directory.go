// Package directory finds the declarations of agent cards about an address, without examining all cards.
//
// A [Directory] is bounded: beyond its limit the least recently used card is forgotten and counted. At most
// [MaxInterfaces] interfaces of a card are found. A Directory is for one goroutine.
package directory

import (
	"slices"
	"strings"

	"a2atap/analyzer/internal/address"
	"a2atap/analyzer/internal/recent"
	"a2atap/proxy/a2a"
)

// MaxInterfaces bounds the interfaces of a card that are found.
const MaxInterfaces = 100

// A Key identifies a card: the URL of the fetch, and the client.
type Key struct {
	URL      string
	Extended bool
	Version  string // of the request that fetched it: one URL may hold two shapes
}

// An Entry is one interface that a card names.
type Entry[C any] struct {
	Card          C
	Address       string // of the interface
	a2a.Interface        // its URL is Address
	of            *card[C]
}

// Names reports whether the interface is at an address, and of a binding.
func (e *Entry[C]) Names(at string, binding a2a.Binding) bool {
	return e.Address == at && e.Binding == binding
}

// A Directory has the cards that were fetched last, as values of C, and finds their declarations for an address. It is
// for one goroutine.
type Directory[C any] struct {
	cards *recent.Map[Key, *card[C]]
	at    map[string][]Entry[C] // by origin of the interface, in the order in which the cards were fetched
}

type card[C any] struct {
	value      C
	interfaces []a2a.Interface
}

// New returns an empty directory for at most limit cards. It forgets the least recently used ones.
func New[C any](limit int) *Directory[C] {
	return &Directory[C]{cards: recent.New[Key, *card[C]](limit), at: make(map[string][]Entry[C])}
}

// Get returns the last card that was put under a key, and whether there is one.
func (d *Directory[C]) Get(key Key) (value C, ok bool) {
	known, ok := d.cards.Get(key)
	if !ok {
		return value, false
	}
	return known.value, true
}

// Put remembers a card with the interfaces that it names, in the place of the one that was fetched in the same way
// before.
func (d *Directory[C]) Put(key Key, value C, interfaces []a2a.Interface) {
	if old, ok := d.cards.Get(key); ok {
		d.drop(old)
	}
	now := &card[C]{value, interfaces[:min(len(interfaces), MaxInterfaces)]}
	if forgotten, ok := d.cards.Put(key, now); ok {
		d.drop(forgotten)
	}
	for _, entry := range now.interfaces {
		entry.URL = AddressOf(&entry)
		origin := address.Origin(entry.URL)
		d.at[origin] = append(d.at[origin], Entry[C]{value, entry.URL, entry, now})
	}
}

// AddressOf returns the address of an interface. A gRPC address may have another form that gRPC clients accept instead
// of a URL: a host and a port, where only the port tells whether TLS is used, or one of their schemes.
//
// Source: gRPC Name Resolution.
func AddressOf(i *a2a.Interface) string {
	url := i.URL
	if i.Binding == a2a.GRPC {
		url = grpcTarget.Replace(url)
	}
	if i.Binding == a2a.GRPC && url != "" && !strings.Contains(url, "://") {
		scheme := "http://"
		if strings.HasSuffix(url, ":443") {
			scheme = "https://"
		}
		url = scheme + url
	}
	return address.Of(url)
}

// grpcTarget removes the schemes that gRPC clients support in addition to those of URLs. The first match counts.
var grpcTarget = strings.NewReplacer(
	"passthrough:///", "", "dns:///", "", "passthrough:", "", "dns:", "", "grpcs://", "https://", "grpc://", "http://",
)

func (d *Directory[C]) drop(old *card[C]) {
	for _, entry := range old.interfaces {
		origin := address.Origin(AddressOf(&entry))
		kept := slices.DeleteFunc(d.at[origin], func(e Entry[C]) bool { return e.of == old })
		if len(kept) == 0 {
			delete(d.at, origin)
			continue
		}
		d.at[origin] = kept
	}
}

// Near returns the declarations of cards at the origin of an address, in the order in which they were fetched. The
// slice must not be changed, and is valid until the next Put.
func (d *Directory[C]) Near(at string) []Entry[C] { return d.at[address.Origin(at)] }

// Declared returns the dialects that cards declare for a binding at an address.
func (d *Directory[C]) Declared(at string, binding a2a.Binding) a2a.Dialects {
	var set a2a.Dialects
	near := d.Near(at)
	for i := range near {
		if near[i].Names(at, binding) {
			set |= near[i].Dialects
		}
	}
	return set
}

// DeclaredAt returns the dialects that cards declare for an address, for any binding.
func (d *Directory[C]) DeclaredAt(at string) a2a.Dialects {
	var set a2a.Dialects
	near := d.Near(at)
	for i := range near {
		if near[i].Address == at {
			set |= near[i].Dialects
		}
	}
	return set
}

// Forgotten returns how many cards had to be forgotten so far.
func (d *Directory[C]) Forgotten() int { return d.cards.Forgotten() }
