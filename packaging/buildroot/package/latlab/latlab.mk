################################################################################
#
# latlab
#
################################################################################

LATLAB_VERSION = 0.1.0
LATLAB_SITE = $(call qstrip,$(BR2_PACKAGE_LATLAB_DIST))
LATLAB_SITE_METHOD = local
LATLAB_LICENSE = MIT or Apache-2.0
LATLAB_LICENSE_FILES = licences.txt

ifeq ($(BR2_x86_64),y)
LATLAB_MACHINE = x86-64
else ifeq ($(BR2_aarch64),y)
LATLAB_MACHINE = arm64
else
LATLAB_MACHINE = armv7
endif
LATLAB_PROGRAM = latlab-$(LATLAB_VERSION)-linux-$(LATLAB_MACHINE)

# Install only a program that matches SHA256SUMS.
define LATLAB_INSTALL_TARGET_CMDS
	cd $(@D) && grep ' $(LATLAB_PROGRAM)$$' SHA256SUMS | sha256sum --check --status
	$(INSTALL) -D -m 0755 $(@D)/$(LATLAB_PROGRAM) $(TARGET_DIR)/usr/bin/latlab
endef

$(eval $(generic-package))
