"""The robots function (robots.py) as the program of a package: `main.py --insecure`, or keys in $TLS_SERVER_CERTS_DIR."""
import os
import sys

import robots

robots.serve("0.0.0.0:9443", None if "--insecure" in sys.argv else os.environ["TLS_SERVER_CERTS_DIR"])
