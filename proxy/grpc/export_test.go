package grpc

// Types returns the types of the messages of a service by their names; nil if the service is not one of A2A.
func Types(service string) map[string]*Type {
	switch service {
	case Service0_3:
		return package0_3
	case Service1_0:
		return package1_0
	}
	return nil
}
