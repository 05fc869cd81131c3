# SPDX-License-Identifier: MIT
"""The extension for Visual Studio Code: a zip that starts with two lists of its contents.

    [Content_Types].xml         the type of each suffix, as in any package of this kind
    extension.vsixmanifest      package.json in another form, for marketplaces and installers
    extension/                  bindings/vscode"""

import json
import pathlib
from xml.sax.saxutils import escape, quoteattr

import wheels

FOLDER = pathlib.Path("bindings/vscode")
TYPES = {".js": "application/javascript", ".json": "application/json", ".md": "text/markdown",
         ".txt": "text/plain", ".vsixmanifest": "text/xml"}

CONTENT_TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">{types}</Types>
"""
MANIFEST = """<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id={name} Version={version} Publisher={publisher}/>
    <DisplayName>{title}</DisplayName>
    <Description xml:space="preserve">{summary}</Description>
    <Tags>{tags}</Tags>
    <Categories>{categories}</Categories>
    <GalleryFlags>Public</GalleryFlags>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value={engine}/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value={kind}/>
    </Properties>
    <License>extension/LICENSE.txt</License>
  </Metadata>
  <Installation>
    <InstallationTarget Id="Microsoft.VisualStudio.Code"/>
  </Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
"""


def manifest(about):
    return MANIFEST.format(
        name=quoteattr(about["name"]), version=quoteattr(about["version"]),
        publisher=quoteattr(about["publisher"]), title=escape(about["displayName"]),
        summary=escape(about["description"]), tags=escape(",".join(about["keywords"])),
        categories=escape(",".join(about["categories"])), engine=quoteattr(about["engines"]["vscode"]),
        kind=quoteattr(",".join(about["extensionKind"])))


def make(source, version, out):
    """The package in `out`; its name."""
    folder = source / FOLDER
    about = {**json.loads((folder / "package.json").read_text()), "version": version}
    types = "".join(f'<Default Extension="{ending}" ContentType="{kind}"/>' for ending, kind in TYPES.items())
    # What is no text of ours is not packed: a test's leavings, say.
    files = [p for p in wheels.files_below(folder) if p.suffix in (".js", ".md")]
    entries = [("[Content_Types].xml", CONTENT_TYPES.format(types=types)), ("extension.vsixmanifest", manifest(about)),
               ("extension/package.json", json.dumps(about, indent=2) + "\n"),
               ("extension/LICENSE.txt", (source / "LICENSE").read_text()),
               *((f"extension/{p}", (folder / p).read_text()) for p in files)]
    name = f"fizeau-{version}.vsix"
    wheels.write_zip(out / name, [(path, text, 0o644) for path, text in entries])
    return name
