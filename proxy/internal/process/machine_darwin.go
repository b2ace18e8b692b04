package process

import "syscall"

func machine() string {
	id, _ := syscall.Sysctl("kern.bootsessionuuid") // empty if the system does not say
	return id
}
