package stdio

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"a2atap/proxy/internal/process"
)

// Variable is the environment variable that has the path of a recorder's socket.
const Variable = "A2ATAP_RECORDER"

// The ends of names of sockets: of recorders, and of players, which answer instead of tools.
const (
	recorderEnd = ".sock"
	playerEnd   = ".play"
)

// socketName returns the name of the socket of a process. A process that records several times has several.
func socketName(pid, n int, end string) string {
	if n == 0 {
		return strconv.Itoa(pid) + end
	}
	return fmt.Sprintf("%d-%d%s", pid, n, end)
}

// Plays reports whether a socket that Find has returned belongs to a player.
func Plays(socket string) bool { return strings.HasSuffix(socket, playerEnd) }

// Ancestors returns the processes above this one, its parent first, as far as the system shows them.
func Ancestors() []int { return process.Ancestors(os.Getpid()) }

// Find returns the path of the socket of the recorder or the player that a tool belongs to: the one that Variable names,
// or that of the nearest ancestor that is one. It returns "" if the tool belongs to none.
func Find(variable string, ancestors []int) string {
	if variable != "" {
		return variable
	}
	dir, err := folder()
	if err != nil {
		return ""
	}
	for _, pid := range ancestors {
		for _, end := range [...]string{playerEnd, recorderEnd} {
			path := filepath.Join(dir, socketName(pid, 0, end))
			if _, err := os.Lstat(path); err == nil {
				return path
			}
		}
	}
	return ""
}

// Dial connects to a recorder's socket.
func Dial(path string) (*net.UnixConn, error) {
	conn, err := net.DialTimeout("unix", path, 5*time.Second)
	if err != nil {
		return nil, fmt.Errorf("connect to the recorder at %s: %w", path, cause(err))
	}
	return conn.(*net.UnixConn), nil
}

func cause(err error) error {
	if sys, ok := errors.AsType[*os.SyscallError](err); ok {
		return sys.Err
	}
	return err
}

// A Listener is the socket of a recorder.
type Listener struct {
	net.Listener
	ended chan struct{} // closed when Serve has ended
}

// maxSockets is how many recordings of one process can have a socket at the same time.
const maxSockets = 100

// Listen opens a socket for a recorder in the user's runtime folder. Sockets of processes that were killed are removed.
func Listen() (*Listener, error) { return listen(recorderEnd) }

// ListenToPlay opens such a socket for a player.
func ListenToPlay() (*Listener, error) { return listen(playerEnd) }

func listen(end string) (*Listener, error) {
	dir, err := folder()
	if err != nil {
		return nil, err
	}
	sockets, _ := filepath.Glob(filepath.Join(dir, "*"+end)) // the pattern is valid
	for _, path := range sockets {
		pid, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), end), "-")
		if n, err := strconv.Atoi(pid); err == nil && n == os.Getpid() {
			continue // another recording of this process may be opening it
		}
		if conn, err := net.Dial("unix", path); err == nil {
			conn.Close()
		} else if refused(err) {
			os.Remove(path) //nolint:errcheck // it stays then
		}
	}
	opening.Lock()
	defer opening.Unlock()
	for n := range maxSockets {
		path := filepath.Join(dir, socketName(os.Getpid(), n, end))
		if conn, err := net.Dial("unix", path); err == nil {
			conn.Close()
			continue
		}
		os.Remove(path) //nolint:errcheck // an earlier process with this number has left it, or it does not exist
		l, err := net.Listen("unix", path)
		if err != nil {
			return nil, fmt.Errorf("open a socket for tools in %s: %w", dir, cause(err))
		}
		return &Listener{l, make(chan struct{})}, nil
	}
	return nil, fmt.Errorf("open a socket for tools in %s: %d recordings of this process have one", dir, maxSockets)
}

// opening is held while a socket of this process is opened.
var opening sync.Mutex

// Path returns the path of the socket, the value of Variable for tools.
func (l *Listener) Path() string { return l.Addr().String() }

// Serve accepts tools until End is called, or the listener is closed, and calls serve for each in a goroutine of the
// group. When the context ends, the rest of each feed is read in bounded time.
func (l *Listener) Serve(ctx context.Context, group *sync.WaitGroup, serve func(net.Conn)) {
	defer close(l.ended)
	for {
		conn, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // such as too many open files
			select {
			case <-time.After(drain):
				continue
			case <-ctx.Done():
				return
			}
		case conn.RemoteAddr().String() == l.lastName():
			conn.Close()
			return
		}
		group.Go(func() {
			defer conn.Close()
			d := &drained{Conn: conn}
			defer context.AfterFunc(ctx, d.end)()
			serve(d)
		})
	}
}

// lastName is the address of the connection that End makes.
func (l *Listener) lastName() string { return l.Path() + ".end" }

// End closes the listener, after Serve has accepted the tools that have connected so far: those are accepted in the order
// in which they have connected, and End connects last.
func (l *Listener) End() {
	defer l.Close()
	name := l.lastName()
	last, err := net.DialUnix("unix", &net.UnixAddr{Name: name, Net: "unix"}, &net.UnixAddr{Name: l.Path(), Net: "unix"})
	os.Remove(name) //nolint:errcheck // it does not exist if connecting has failed
	if err != nil {
		return
	}
	defer last.Close()
	<-l.ended
}

// When the recorder ends, what has been sent is still read: until nothing arrives for drain, and for drainLimit at most.
const drain, drainLimit = 50 * time.Millisecond, 2 * time.Second

// A drained connection is read to its end, or until nothing more arrives after end was called.
type drained struct {
	net.Conn
	until atomic.Pointer[time.Time] // nil before the end
}

func (d *drained) end() {
	d.until.Store(new(time.Now().Add(drainLimit)))
	d.SetReadDeadline(time.Now().Add(drain)) //nolint:errcheck // it is a socket
}

// Read implements net.Conn.
func (d *drained) Read(p []byte) (int, error) {
	n, err := d.Conn.Read(p)
	if until := d.until.Load(); until != nil && err == nil {
		next := time.Now().Add(drain)
		if next.After(*until) {
			next = *until
		}
		d.SetReadDeadline(next) //nolint:errcheck // it is a socket
	}
	return n, err
}
