"""What authors of joints test their own work with."""

from mbkit.testing.joint_report import JointReport as JointReport
from mbkit.testing.joint_report import Line as Line
from mbkit.testing.joints import check_joint as check_joint
