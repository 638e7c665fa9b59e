SUMMARY = "Real-time latency of Linux, measured and judged against a deadline"
DESCRIPTION = "latlab measures the time between the instant a thread asked to be woken and its first \
instruction, says what delayed it, and judges a run against a deadline."
SECTION = "console/utils"
LICENSE = "MIT | Apache-2.0"
LIC_FILES_CHKSUM = "file://LICENSE-MIT;md5=05d6e16d993888df7daa1d8d7b14e45f \
                    file://LICENSE-APACHE;md5=1836efb2eb779966696f473ee8540542"

# The sources are the checkout that contains this layer. Pages have charts if `scripts/web.sh` was run
# there before; otherwise only static pictures.
inherit externalsrc cargo
EXTERNALSRC = "${@os.path.abspath(os.path.join(d.getVar('THISDIR'), '../../../..'))}"
require latlab-crates.inc

CARGO_BUILD_FLAGS += "--package latlab --bin latlab"

do_install:append() {
    install -d ${D}${mandir}/man1 ${D}${datadir}/bash-completion/completions
    install -m 0644 ${S}/docs/reference/man/*.1 ${D}${mandir}/man1
    install -m 0644 ${S}/docs/reference/completions/latlab.bash ${D}${datadir}/bash-completion/completions/latlab
}

FILES:${PN} += "${datadir}/bash-completion"
# Load generators.
RRECOMMENDS:${PN} = "rt-tests stress-ng"
