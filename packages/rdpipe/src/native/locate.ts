/** Where the native programs are: in a checkout, in an installed copy, or where RDPIPE_NATIVE_DIR says. */

/** As `uname -s` and `uname -m` print them, in lower case: `linux-x86_64`, `linux-aarch64`. */
export type Platform = string;

export interface NativeBuild {
  /** Holds static builds of rdstage, rdsend and rdrecv. */
  readonly staticDir: string;
  /** Holds rdsend and rdrecv that may open RDMA libraries; undefined where there are none. */
  readonly dynamicDir: string | undefined;
}
