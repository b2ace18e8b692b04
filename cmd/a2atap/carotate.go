package main

import (
	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/trust"
)

func newCARotate(e cli.Env) *cobra.Command {
	return withArgs(&cobra.Command{
		Use:   "rotate",
		Short: "Make a new authority in the place of the present one",
		Long: `Rotate makes a new certificate authority, for when the present one has expired, or its key may be known to
somebody else. The former one is kept beside it under the time of the rotation. Recorders that run go on with the former
one; those that start from now on use the new one, which clients must then trust. What has to be done again is printed.`,
		Example: "  a2atap ca rotate",
		RunE:    func(*cobra.Command, []string) error { return trust.Rotate(e) },
	}, 0, 0)
}
