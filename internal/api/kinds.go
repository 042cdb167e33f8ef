package api

// ownKinds are the custom resources that are read, by "apiVersion/Kind", with
// the function that decodes, defaults, validates and converts one. It returns
// the object as defaulted, nil when the object is wrong. The reporter stands on
// the object.
var ownKinds = map[string]func(l *loader, o *Object) any{
	versionPool + "/NodePool":       readNodePool,
	versionPool + "/NodeClaim":      readNodeClaim,
	versionClass + "/EC2NodeClass":  readNodeClass,
	versionOverlay + "/NodeOverlay": readNodeOverlay,
}
