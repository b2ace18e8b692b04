package tool

import (
	"fmt"
	"io"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/stdio"
)

// play connects the client to a player that answers instead of the tool. It reports false if the tool is to run, with
// the socket of its recorder, if it has one.
func (o *Options) play(e cli.Env, socket string, above []int) (played bool, recorder string, err error) {
	conn, err := stdio.Dial(socket)
	if err != nil {
		return false, "", err
	}
	defer conn.Close()
	if played, err = stdio.Ask(conn, stdio.Hello{Name: o.Name, Ancestors: above}); err != nil || !played {
		path, _ := io.ReadAll(conn) // nothing if the player has ended
		return played, string(path), err
	}
	go func() {
		io.Copy(conn, e.In) //nolint:errcheck // the player has ended
		conn.CloseWrite()   //nolint:errcheck // as above
	}()
	if _, err := io.Copy(e.Out, conn); err != nil {
		return true, "", fmt.Errorf("pass on the recorded messages: %w", err)
	}
	return true, "", nil
}
