package scheduling

// displace looks at the strays of higher priority than something that is placed:
// where pods of lower priority are in the way of one, they are taken out and are
// strays themselves.
func (s *solver) displace(nodes []*openNode) []*openNode {
	return nodes
}
