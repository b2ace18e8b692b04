package a2a

import "strings"

// grpcServices are the paths of the gRPC service: the package was renamed for 1.0, after its release candidate.
var grpcServices = [...]struct {
	path string
	in   Dialects
}{
	{"/a2a.v1.A2AService/", kindDialects},
	{"/lf.a2a.v1.A2AService/", onlyV1_0},
}

// decodeGRPC takes a call of the gRPC binding by its path (A2A 0.3 §3.2.2, 1.0 §10). What it carries is not decoded.
func (c *Call) decodeGRPC(r *Request, path string) bool {
	if r.Method != "POST" {
		return false
	}
	for _, service := range grpcServices {
		i := strings.Index(path, service.path)
		if i < 0 {
			continue
		}
		c.Method = path[i+len(service.path):]
		c.Binding, c.Dialects, c.Evidence = GRPC, service.in, Decisive
		c.Operation = OperationOf(c.Method)
		if c.Operation == GetCard { // "GetAgentCard" before 1.0, for those who are known to the agent
			c.Operation = GetExtendedCard
		}
		return true
	}
	return false
}
