"""Several packages together over real files, engines and stores."""
