package verdict

import (
	"fmt"
	"os"
	"path/filepath"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/jws"
	"a2atap/analyzer/track/signature"
	"a2atap/cmd/internal/cli"
)

const maxKeyFile = 1 << 20 // bytes

// ReadKeys reads the files of --jwks. Findings name a file without its folder.
func ReadKeys(files []string) ([]engine.Option, error) {
	options, _, err := ReadKeySets(files)
	return options, err
}

// ReadKeySets is ReadKeys, and returns all the keys as well.
func ReadKeySets(files []string) ([]engine.Option, jws.KeySet, error) {
	var options []engine.Option
	var all jws.KeySet
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return nil, nil, fmt.Errorf("--jwks: %w", err)
		}
		if info.Size() > maxKeyFile {
			return nil, nil, cli.Usage("--jwks %s: the file is larger than %d bytes", file, maxKeyFile)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, nil, fmt.Errorf("--jwks: %w", err)
		}
		keys, err := jws.ParseKeySet(text)
		if err != nil {
			return nil, nil, cli.Usage("--jwks %s: %w", file, err)
		}
		options, all = append(options, signature.WithKeys(filepath.Base(file), keys)), append(all, keys...)
	}
	return options, all, nil
}

// KeysHelp is the help of --jwks.
const KeysHelp = "verify signatures of agent cards with the keys of `FILE`, a JWK Set; " +
	"keys are never fetched; repeatable"
