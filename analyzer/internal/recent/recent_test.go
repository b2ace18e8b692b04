package recent_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"a2atap/analyzer/internal/recent"
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

// Whatever happens to a map, it holds what a list would that is searched from its end.
func TestMapIsTheListItStandsFor(t *testing.T) { testMap(t, nil) }

// The same holds where keys have hashes of their own, be they as bad as can be.
func TestHashedMapIsTheListItStandsFor(t *testing.T) {
	testMap(t, func(n int) uint32 { return uint32(n) })
	testMap(t, func(n int) uint32 { return uint32(n % 3) })
}

func testMap(t *testing.T, hash func(int) uint32) {
	t.Helper()
	for _, limit := range []int{1, 5, 300} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			keys := 2*limit - 1
			rnd := rand.New(rand.NewPCG(1, 2))
			m := recent.New[int, int](limit)
			if hash != nil {
				m = recent.NewHashed[int, int](limit, hash)
			}
			var list [][2]int // key and value, least recently used first
			forgotten := 0
			for step := range 10_000 {
				key := rnd.IntN(keys)
				at := slices.IndexFunc(list, func(e [2]int) bool { return e[0] == key })
				entry := [2]int{key, step}
				if at >= 0 {
					entry[1] = list[at][1]
					list = slices.Delete(list, at, at+1)
				}
				switch rnd.IntN(6) {
				case 0:
					m.Delete(key)
				case 3:
					value, known := m.At(key)
					if known != (at >= 0) || known && *value != entry[1] || !known && *value != 0 {
						t.Fatalf("step %d: key %d is at %d, %v, of %v", step, key, *value, known, list)
					}
					if *value = step; !known && len(list) == limit {
						list, forgotten = list[1:], forgotten+1
					}
					list = append(list, [2]int{key, step})
				case 4:
					value := m.Find(key)
					if (value != nil) != (at >= 0) || at >= 0 && *value != entry[1] {
						t.Fatalf("step %d: key %d is at %v, of %v", step, key, value, list)
					}
					if at >= 0 {
						*value = step
						list = append(list, [2]int{key, step})
					}
				case 1, 2:
					dropped, ok := m.Put(key, step)
					if full := at < 0 && len(list) == limit; ok != full || full && dropped != list[0][1] {
						t.Fatalf("step %d: put forgot %d, %v, of %v", step, dropped, ok, list)
					} else if full {
						list, forgotten = list[1:], forgotten+1
					}
					list = append(list, [2]int{key, step})
				default:
					if value, ok := m.Get(key); ok != (at >= 0) || ok && value != entry[1] {
						t.Fatalf("step %d: key %d is %d, %v, of %v", step, key, value, ok, list)
					}
					if at >= 0 {
						list = append(list, entry)
					}
				}
				var got [][2]int
				for k, v := range m.All() {
					got = append(got, [2]int{k, v})
				}
				if !slices.Equal(got, list) || m.Len() != len(list) || m.Forgotten() != forgotten {
					t.Fatalf("step %d: %v, %d forgotten; want %v, %d", step, got, m.Forgotten(), list, forgotten)
				}
			}
			for key := range keys {
				_, ok := m.Get(key)
				if want := slices.ContainsFunc(list, func(e [2]int) bool { return e[0] == key }); ok != want {
					t.Errorf("key %d is there: %v, want %v", key, ok, want)
				}
			}
		})
	}
}

// An entry needs no memory apart from the slice and the index.
func TestMapTakesPlacesAgain(t *testing.T) {
	m := recent.New[int, int](100)
	for i := range 1000 {
		m.Put(i, i)
	}
	next := 1000
	if n := testing.AllocsPerRun(1000, func() { m.Put(next, next); next++ }); n != 0 {
		t.Errorf("an entry in the place of another takes %v allocations", n)
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
