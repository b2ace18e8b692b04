package notes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

func id(n int) uuid.UUID { return uuid.MustParse(fmt.Sprintf("0190a5c4-0000-7000-8000-%012d", n)) }

func mark(n Note) Note {
	n.Marked = !n.Marked
	return n
}

func comment(words string) func(Note) Note {
	return func(n Note) Note {
		n.Comment = words
		return n
	}
}

func change(t *testing.T, k *Keeper, seq int, how func(Note) Note) {
	t.Helper()
	must.Get(k.Change(uint64(seq), id(seq), how))(t)
}

func content(t *testing.T, path string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(path))(t))
}

func TestNotesAreText(t *testing.T) {
	path := Path(filepath.Join(t.TempDir(), "c.a2atap"))
	k := NewKeeper(path)
	must.Get(k.Load())(t)
	change(t, k, 7, comment("why is there no artifact?"))
	change(t, k, 3, mark)
	change(t, k, 3, comment(` "two" lines`+"\n"))
	change(t, k, 5, mark)
	change(t, k, 5, mark)
	want := preface + "\n" +
		`3 0190a5c4-0000-7000-8000-000000000003 x " \"two\" lines\n"` + "\n" +
		"7 0190a5c4-0000-7000-8000-000000000007 - why is there no artifact?\n"
	expect.Same(t, "the file", want, content(t, path))
	expect.Equal(t, "mode", 0o600, must.Get(os.Stat(path))(t).Mode().Perm())
	read := must.Get(Read(path))(t)
	// Elsewhere the exchange has another number, and the number means another exchange.
	if got := read.Of(30, id(3)); !got.Marked || got.Comment != " \"two\" lines\n" {
		t.Errorf("the note on a copy is %+v", got)
	}
	if got := read.Of(3, id(30)); !got.Empty() {
		t.Errorf("another exchange has the note %+v", got)
	}
	expect.Equal(t, "number 7", "why is there no artifact?", read.Numbered(7).Comment)
	change(t, k, 3, func(n Note) Note { return Note{} })
	change(t, k, 7, comment(""))
	expect.Equal(t, "without notes the file", preface+"\n", content(t, path))
}

// Whatever people write into the file stays there, and only what was noted changes.
func TestLinesOfOthersStay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.notes")
	text := `# my own words
3 0190a5c4-0000-7000-8000-000000000003 x first

three is broken
0 - x nothing
4 0190a5c4 x no id
5 - y no mark
6 - x "open
9 - - without an id`
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	k := NewKeeper(path)
	n := must.Get(k.Load())(t)
	var lines []int
	for _, b := range n.Bad() {
		lines = append(lines, b.Line)
		if b.Why == "" {
			t.Errorf("line %d is bad, and nobody says why", b.Line)
		}
	}
	expect.Same(t, "bad lines", []int{4, 5, 6, 7, 8}, lines)
	expect.Equal(t, "an exchange without an id", "without an id", n.Of(9, uuid.Nil).Comment)
	change(t, k, 8, mark)
	want := strings.Replace(text, "9 - -", "8 0190a5c4-0000-7000-8000-000000000008 x\n9 - -", 1) + "\n"
	expect.Same(t, "the file", want, content(t, path))
}

// Two inspectors of one capture do not lose each other's notes.
func TestTwoKeepers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.notes")
	a, b := NewKeeper(path), NewKeeper(path)
	for _, k := range []*Keeper{a, b} {
		must.Get(k.Load())(t)
	}
	change(t, a, 1, mark)
	change(t, b, 2, mark)
	change(t, a, 3, comment("third"))
	got := must.Get(Read(path))(t)
	want := []Note{{1, id(1), true, ""}, {2, id(2), true, ""}, {3, id(3), false, "third"}}
	expect.Same(t, "the file has", want, got.All())
	expect.Same(t, "the first one knows", want, a.Now().All())
}

// What another has said of the same exchange stays, too: since the file was read, and while it is being written.
func TestTwoKeepersOfOneNote(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.notes")
	a, b := NewKeeper(path), NewKeeper(path)
	for _, k := range []*Keeper{a, b} {
		must.Get(k.Load())(t)
	}
	change(t, a, 3, mark)
	change(t, b, 3, comment("of the other"))
	change(t, a, 3, mark)
	want := []Note{{3, id(3), false, "of the other"}}
	expect.Same(t, "the file has", want, parse([]byte(content(t, path))).All())
	expect.Same(t, "the first one knows", want, a.Now().All())
	tries := 0
	change(t, a, 3, func(n Note) Note {
		if tries++; tries == 1 {
			change(t, b, 3, comment("in the same moment"))
		}
		return mark(n)
	})
	want = []Note{{3, id(3), true, "in the same moment"}}
	expect.Same(t, fmt.Sprintf("after %d tries the file has", tries), want, parse([]byte(content(t, path))).All())
}

// A file of notes may be a link to where they are kept, also before there are any.
func TestNotesBehindALink(t *testing.T) {
	for name, to := range map[string]string{
		"to a file":                "../kept/there.notes",
		"to a link to a file":      "again",
		"to nothing yet":           "../kept/new.notes",
		"to a link to nothing":     "nowhere",
		"to nothing, from a link":  "../deep/../new.notes", // deep is a link to kept/deep, so it is kept/new.notes
		"to a file, from the root": "/",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			kept, here := filepath.Join(dir, "kept"), filepath.Join(dir, "here")
			link := filepath.Join(here, "c.notes")
			file := filepath.Join(kept, "there.notes")
			if strings.Contains(name, "nothing") {
				file = filepath.Join(kept, "new.notes")
			}
			if to == "/" {
				to = file
			}
			err := errors.Join(os.MkdirAll(filepath.Join(kept, "deep"), 0o700), os.Mkdir(here, 0o700),
				os.WriteFile(filepath.Join(kept, "there.notes"), []byte("1 - - first\n"), 0o600),
				os.Symlink("kept/deep", filepath.Join(dir, "deep")),
				os.Symlink("../kept/there.notes", filepath.Join(here, "again")),
				os.Symlink("../kept/new.notes", filepath.Join(here, "nowhere")),
				os.Symlink(to, link))
			must.Do(t, err)
			k := NewKeeper(link)
			must.Get(k.Load())(t)
			change(t, k, 3, mark)
			expect.Equal(t, "the link leads to", to, must.Get(os.Readlink(link))(t))
			got := content(t, file)
			if !parse([]byte(got)).Of(3, id(3)).Marked {
				t.Errorf("behind it is %q", got)
			}
			if strings.Contains(name, "a file") && !strings.HasPrefix(got, "1 - - first\n") {
				t.Errorf("of what was there is left %q", got)
			}
		})
	}
}

// A link that leads to itself is reported, and the link stays.
func TestNotesBehindALinkToItself(t *testing.T) {
	link := filepath.Join(t.TempDir(), "c.notes")
	must.Do(t, os.Symlink("c.notes", link))
	if n, err := NewKeeper(link).Change(1, id(1), mark); err == nil || !n.Of(1, id(1)).Marked {
		t.Errorf("a note behind it: %v, %+v", err, n.All())
	}
	expect.Equal(t, "it leads to", "c.notes", must.Get(os.Readlink(link))(t))
}

// Where the file cannot be written, notes are kept until it can.
func TestNotesWithoutRoom(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not there yet")
	k := NewKeeper(filepath.Join(dir, "c.notes"))
	must.Get(k.Load())(t)
	for seq := 1; seq <= 2; seq++ {
		n, err := k.Change(uint64(seq), id(seq), mark)
		if err == nil || !n.Of(uint64(seq), id(seq)).Marked {
			t.Errorf("a note without room: %v, %+v", err, n.All())
		}
	}
	if n, err := k.Change(2, id(2), mark); err == nil || n.Of(2, id(2)).Marked {
		t.Errorf("a mark taken away without room: %v, %+v", err, n.All())
	}
	must.Do(t, os.Mkdir(dir, 0o700))
	change(t, NewKeeper(k.Path()), 1, comment("of another"))
	loaded := must.Get(k.Load())(t)
	change(t, k, 3, mark)
	got := must.Get(Read(k.Path()))(t)
	want := []Note{{1, id(1), true, "of another"}, {3, id(3), true, ""}}
	expect.Same(t, "when there is room, the file has", want, got.All())
	expect.Same(t, "before that the keeper knows", want[:1], loaded.All())
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	memory := NewKeeper("")
	if n, err := memory.Change(1, id(1), mark); err != nil || !n.Of(1, id(1)).Marked {
		t.Errorf("without a file: %v", err)
	}
}

func TestReadRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.notes")
	must.Do(t, os.WriteFile(path, make([]byte, maxFile+1), 0o600))
	expect.ErrorHas(t, "a file that is too large", path, expect.Err(Read(path)))
	expect.ErrorHas(t, "a folder is read as notes", "is not a regular file", expect.Err(Read(t.TempDir())))
}

func TestConcurrentKeeper(t *testing.T) {
	k := NewKeeper(filepath.Join(t.TempDir(), "c.notes"))
	var all sync.WaitGroup
	for seq := 1; seq <= 8; seq++ {
		all.Go(func() {
			expect.OK(t, expect.Err(k.Change(uint64(seq), id(seq), mark)))
			k.Now().All()
		})
	}
	all.Wait()
	expect.Equal(t, "notes", 8, len(k.Now().All()))
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("3 0190a5c4-0000-7000-8000-000000000003 x first\r\n# a\n\n7 - - \"a\\n\"\n"), "why?", true)
	f.Add([]byte("3 - x\x00\n18446744073709551615 - x a\n3 - - b"), "\x1b]52;c;\a\u202e\"", false)
	f.Fuzz(func(t *testing.T, data []byte, words string, marked bool) {
		n := parse(data)
		again := parse(n.Format())
		if diff := cmp.Diff(n.All(), again.All()); diff != "" {
			t.Fatalf("read again, -want +got:\n%s", diff)
		}
		if len(n.Bad()) != len(again.Bad()) {
			t.Fatalf("bad lines: %v and %v", n.Bad(), again.Bad())
		}
		note := Note{Seq: 3, ID: id(3), Marked: marked, Comment: words}
		changed := n.With(note)
		back := parse(changed.Format()).Of(3, id(3))
		if len(words) <= maxComment && back != note {
			t.Fatalf("%+v comes back as %+v", note, back)
		}
		if text := strings.ToValidUTF8(note.String(), ""); strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
			t.Fatalf("a control character in %q", text)
		}
	})
}
