package scheduling

func (s *solver) reasons(c *class) []string { return []string{"no room"} }
