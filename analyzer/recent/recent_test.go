package recent_test

import (
	"slices"
	"testing"

	"a2atap/analyzer/recent"
)

func TestMapForgetsTheLeastUsed(t *testing.T) {
	m := recent.New[string, int](2)
	m.Put("a", 1)
	m.Put("b", 2)
	m.Get("a")
	dropped, ok := m.Put("c", 3)
	if !ok || dropped != 2 {
		t.Errorf("put forgot %d, %v; want 2, the least used", dropped, ok)
	}
	if _, ok := m.Put("a", 4); ok {
		t.Error("put of a known key forgot another one")
	}
	if v, _ := m.Get("a"); v != 4 || m.Forgotten() != 1 || m.Len() != 2 {
		t.Errorf("a is %d with %d forgotten and %d kept, want 4, 1, 2", v, m.Forgotten(), m.Len())
	}
}

func TestMapDelete(t *testing.T) {
	m := recent.New[string, int](2)
	m.Put("a", 1)
	m.Put("b", 2)
	m.Delete("a")
	m.Delete("x")
	if _, ok := m.Get("a"); ok || m.Forgotten() != 0 {
		t.Errorf("a is there: %v, %d forgotten; want it gone, and none forgotten", ok, m.Forgotten())
	}
	if _, forgot := m.Put("c", 3); forgot {
		t.Error("what was deleted still takes room")
	}
}

// To walk over the entries is not to use them.
func TestMapAll(t *testing.T) {
	m := recent.New[string, int](3)
	for i, key := range []string{"a", "b", "c"} {
		m.Put(key, i)
	}
	m.Get("a")
	var keys []string
	for key := range m.All() {
		keys = append(keys, key)
	}
	if want := []string{"b", "c", "a"}; !slices.Equal(keys, want) {
		t.Errorf("got %q, want %q, least recently used first", keys, want)
	}
	if m.Put("d", 3); m.Len() != 3 {
		t.Errorf("%d are kept, want 3", m.Len())
	}
	if _, ok := m.Get("b"); ok {
		t.Error("b was used by the walk")
	}
}
