include $(sort $(wildcard $(BR2_EXTERNAL_LATLAB_PATH)/package/*/*.mk))
