"""Robot descriptions for the import: an arm (URDF), a quadruped and a satellite (MJCF). Written for these tests."""

ARM = """<?xml version="1.0"?>
<robot name="arm">
  <mujoco><compiler discardvisual="true"/></mujoco>
  <link name="base_link"><inertial><origin xyz="0 0 0.1"/><mass value="5"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.08" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="upper-arm"><inertial><origin xyz="0.02 0 0.2" rpy="0.1 0.2 0"/><mass value="3"/>
    <inertia ixx="0.06" iyy="0.05" izz="0.02" ixy="0.003" ixz="0.001" iyz="0"/></inertial>
    <visual><geometry><mesh filename="package://arm/missing.stl"/></geometry></visual></link>
  <link name="forearm"><inertial><origin xyz="0.15 0 0"/><mass value="2"/>
    <inertia ixx="0.005" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="wrist"><inertial><mass value="0.7"/>
    <inertia ixx="0.002" iyy="0.003" izz="0.003" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="finger"><inertial><origin xyz="0 0.02 0"/><mass value="0.1"/>
    <inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="camera"/>
  <joint name="shoulder" type="revolute"><parent link="base_link"/><child link="upper-arm"/>
    <origin xyz="0 0 0.2" rpy="0.3 0 0.5"/><axis xyz="0 0.6 0.8"/>
    <limit lower="-2" upper="2.5" effort="50" velocity="2"/>
    <dynamics damping="0.4" friction="0.2"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper-arm"/><child link="forearm"/>
    <origin xyz="0 0 0.4" rpy="0 1.5707963267948966 0"/><axis xyz="0 1 0"/></joint>
  <joint name="slide" type="prismatic"><parent link="forearm"/><child link="wrist"/>
    <origin xyz="0.3 0 0" rpy="0 -0.4 0.2"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="0.1" effort="9" velocity="1"/></joint>
  <joint name="grip" type="revolute"><parent link="wrist"/><child link="finger"/>
    <axis xyz="0 0 1"/><limit lower="0" upper="1" effort="1" velocity="1"/><mimic joint="slide"/></joint>
  <joint name="eye" type="fixed"><parent link="wrist"/><child link="camera"/><origin xyz="0 0 0.05"/></joint>
</robot>
"""

LEG = """
    <body name="thigh{n}" pos="{x} {y} -0.05" euler="0.1 0 0.2">
      <joint name="roll{n}" type="hinge" axis="1 0 0" stiffness="3" springref="0.2" damping="0.1"/>
      <joint name="hip{n}" type="hinge" axis="0 1 0" pos="0 0 0.01" range="-1 1.2" limited="true" armature="0.01"/>
      <inertial pos="0 0 -0.1" mass="0.8" fullinertia="0.004 0.005 0.002 0.0002 0 0.0001"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02"/>
      <body name="shank{n}" pos="0 0 -0.2">
        <joint name="knee{n}" type="hinge" axis="0 1 0" ref="0.5"/>
        <geom type="box" size="0.015 0.02 0.1" pos="0 0 -0.1" mass="0.4"/>
      </body>
    </body>"""

CORNERS = ((0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1))

QUADRUPED = f"""<mujoco model="dog">
  <compiler angle="radian"/>
  <option gravity="0 0 -3.7"/>
  <worldbody>
    <geom type="plane" size="5 5 0.1"/>
    <body name="trunk" pos="0.1 0 0.5" euler="0 0.1 0">
      <freejoint name="flight"/>
      <geom type="box" size="0.25 0.12 0.06" mass="9"/>
      {"".join(LEG.format(n=n, x=x, y=y) for n, (x, y) in enumerate(CORNERS))}
      <body name="head" pos="0.3 0 0.05"><joint name="neck" type="ball"/>
        <geom type="sphere" size="0.07" mass="1.2"/></body>
    </body>
  </worldbody>
  <actuator><motor joint="hip0"/><motor joint="knee0" name="drive"/></actuator>
  <sensor><jointpos joint="hip0"/></sensor>
  <keyframe><key name="stand"/></keyframe>
</mujoco>
"""

SATELLITE = """<mujoco model="sat">
  <option gravity="0 0 0"/>
  <worldbody>
    <body name="hub" pos="0 0 1"><freejoint/>
      <inertial pos="0.1 0 0" mass="400" diaginertia="120 150 140"/>
      <body name="panel 1" pos="0 1 0"><joint name="root" axis="1 0 0" stiffness="20" damping="2" springref="90"/>
        <inertial pos="0 0.8 0" mass="12" diaginertia="2.6 0.1 2.7"/>
        <body name="panel 2" pos="0 1.6 0"><joint name="hinge" axis="1 0 0" stiffness="12"/>
          <inertial pos="0 0.75 0" mass="10" diaginertia="1.9 0.1 2"/></body>
      </body>
      <body name="boom" pos="0 -1 0" euler="0 0 30"><joint name="pin" axis="1 0 0"/>
        <inertial pos="0 -0.5 0" mass="3" diaginertia="0.25 0.01 0.25"/></body>
      <body name="strut" pos="0 -1 0.4"><joint name="ball" type="ball"/>
        <inertial pos="0 -0.3 0" mass="1" diaginertia="0.1 0.01 0.1"/></body>
    </body>
  </worldbody>
  <equality>
    <connect name="tip" body1="strut" body2="boom" anchor="0 -0.6 -0.1"/>
    <weld name="hold" body1="panel 2" body2="hub" active="false"/>
    <joint joint1="root" joint2="hinge"/>
  </equality>
</mujoco>
"""
