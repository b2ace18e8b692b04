//go:build !linux && !darwin

package process

func machine() string { return "" }
