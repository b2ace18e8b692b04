package tool

import (
	"fmt"
	"io"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/stdio"
)

// play connects the client to a player that answers instead of the tool. It reports false if the tool is to run.
func (o *Options) play(e cli.Env, socket string, above []int) (played bool, err error) {
	conn, err := stdio.Dial(socket)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	if played, err = stdio.Ask(conn, stdio.Hello{Name: o.Name, Ancestors: above}); err != nil || !played {
		return played, err
	}
	go func() {
		io.Copy(conn, e.In) //nolint:errcheck // the player has ended
		conn.CloseWrite()   //nolint:errcheck // as above
	}()
	if _, err := io.Copy(e.Out, conn); err != nil {
		return true, fmt.Errorf("pass on the recorded messages: %w", err)
	}
	return true, nil
}
