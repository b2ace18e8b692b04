package main

import (
	"fmt"
	"os"
	"path/filepath"

	"a2atap/analyzer"
	"a2atap/analyzer/jws"
	"a2atap/analyzer/track/signature"
)

const maxKeyFile = 1 << 20 // bytes

// readKeys reads the files of --jwks. Findings name a file without its folder.
func readKeys(files []string) ([]analyzer.EngineOption, error) {
	var options []analyzer.EngineOption
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return nil, fmt.Errorf("--jwks: %w", err)
		}
		if info.Size() > maxKeyFile {
			return nil, usage("--jwks %s: the file is larger than %d bytes", file, maxKeyFile)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("--jwks: %w", err)
		}
		keys, err := jws.ParseKeySet(text)
		if err != nil {
			return nil, usage("--jwks %s: %w", file, err)
		}
		options = append(options, signature.WithKeys(filepath.Base(file), keys))
	}
	return options, nil
}

const jwksHelp = "verify signatures of agent cards with the keys of `FILE`, a JWK Set; " +
	"keys are never fetched; repeatable"
